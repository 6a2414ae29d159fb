#include "backplane/types/json_scan.hpp"

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "backplane/types/json_reading.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace backplane BACKPLANE_API {
namespace {

// Returns the offset of the quote that closes a string. `at`: the offset after the opening quote.
std::size_t string_end(std::string_view text, std::size_t at) {
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const int found = _mm_movemask_epi8(special);
    if (found == 0) continue;
    at += static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(found)));
    if (text[at] == '"') return at;
    break;  // a backslash: continue byte by byte
  }
#endif
  for (; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return text.size();
}

#ifdef __SSE2__
// Returns the number of set bits, of which there are few. The x86-64 baseline has no instruction for it, and a function call costs more
// than this loop.
std::size_t bit_count(std::uint64_t bits) noexcept {
  std::size_t count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

// Bit masks of 64 bytes of JSON: bit N belongs to byte N.
struct Block {
  std::uint64_t quotes = 0;
  std::uint64_t slashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;

  explicit Block(const char* text) {
    for (int i = 0; i < 4; ++i) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * i));
      // '[' and '{' differ in one bit, and so do ']' and '}'.
      const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
      quotes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))) << (16 * i);
      slashes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))) << (16 * i);
      opens |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) << (16 * i);
      closes |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) << (16 * i);
    }
  }
  static std::uint64_t bits(__m128i bytes) { return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(bytes))); }
};

// Scans nested brackets in blocks of 64 bytes.
class NestedScan {
 public:
  explicit NestedScan(std::size_t depth) : depth_(depth) {}
  // Returns the offset after the bracket that closes the outermost level if it is in this block; otherwise 0.
  std::size_t take(const char* text) {
    const Block block(text);
    const std::uint64_t outside = ~in_string(block);
    const std::uint64_t closes = block.closes & outside;
    const std::uint64_t opens = block.opens & outside;
    const std::size_t count = bit_count(closes);
    if (count >= depth_) {
      for (std::uint64_t left = opens | closes; left != 0; left &= left - 1) {
        const std::uint64_t lowest = left & -left;
        if ((opens & lowest) != 0) {
          ++depth_;
        } else if (--depth_ == 0) {
          return static_cast<std::size_t>(std::countr_zero(lowest)) + 1;
        }
      }
      return 0;
    }
    depth_ += bit_count(opens);
    depth_ -= count;
    return 0;
  }
  std::size_t depth() const noexcept { return depth_; }
  bool inside_string() const noexcept { return string_ != 0; }
  bool escaped() const noexcept { return escaped_ != 0; }

 private:
  // Returns the bytes from each opening quote up to its closing quote, which is not included.
  std::uint64_t in_string(const Block& block) {
    std::uint64_t quotes = block.quotes & ~escaped_bytes(block.slashes);
    for (int step = 1; step < 64; step *= 2) quotes ^= quotes << step;
    const std::uint64_t inside = quotes ^ string_;
    string_ = (inside >> 63) != 0 ? ~std::uint64_t{0} : 0;
    return inside;
  }
  // Returns the bytes that follow an odd number of backslashes.
  std::uint64_t escaped_bytes(std::uint64_t slashes) {
    if (slashes == 0) return std::exchange(escaped_, 0);
    std::uint64_t found = 0;
    std::uint64_t escaped = escaped_;
    escaped_ = 0;
    for (std::uint64_t left = slashes | escaped; left != 0;) {
      const std::uint64_t lowest = left & -left;
      left &= left - 1;
      if ((escaped & lowest) != 0) {
        found |= lowest;  // it is escaped, so it is not a quote, and a backslash does not begin an escape
        continue;
      }
      if ((lowest >> 63) != 0) {
        escaped_ = 1;
      } else {
        escaped |= lowest << 1;
        left |= lowest << 1;
      }
    }
    return found;
  }

  std::size_t depth_;
  std::uint64_t string_ = 0;   // all bits set: the next block begins inside a string
  std::uint64_t escaped_ = 0;  // 1: the first byte of the next block is escaped
};
#endif

// Returns the offset after the bracket that closes all levels. `at`: an offset outside strings, `depth` levels inside brackets.
std::size_t skip_nested(std::string_view text, std::size_t at, std::size_t depth) {
#ifdef __SSE2__
  NestedScan scan(depth);
  for (; at + 64 <= text.size(); at += 64) {
    if (const std::size_t end = scan.take(text.data() + at); end != 0) return at + end;
  }
  depth = scan.depth();
  if (scan.escaped()) ++at;
  if (scan.inside_string()) at = string_end(text, at) + 1;
#endif
  for (; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = string_end(text, at + 1);
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
  }
  return text.size();
}

// Returns the paths below the member `key`, without `key`. Sets `whole` if one of the paths is `key` itself.
using Paths = boost::container::small_vector<std::string_view, 8>;
Paths paths_below(std::span<const std::string_view> paths, std::string_view key, bool& whole) {
  Paths below;
  for (const std::string_view path : paths) {
    if (!path.starts_with(key)) continue;
    if (path.size() == key.size()) whole = true;
    if (path.size() > key.size() && path[key.size()] == '.') below.push_back(path.substr(key.size() + 1));
  }
  return below;
}

// Appends the selected members of the object that `scan` visits; stops after the last of them.
void append_members(std::string& out, std::string_view text, MemberScan& scan, std::span<const std::string_view> paths) {
  std::size_t left = paths.size();
  char lead = '{';
  while (left > 0 && scan.next()) {
    bool whole = false;
    const Paths below = paths_below(paths, scan.key(), whole);
    if (!whole && below.empty()) continue;
    left -= below.size() + (whole ? 1 : 0);
    out.push_back(std::exchange(lead, ','));
    if (whole || !scan.value_is_object()) {
      out.append(text.substr(scan.member_begin(), scan.value_end() - scan.member_begin()));
    } else {
      out.append(text.substr(scan.member_begin(), scan.value_begin() - scan.member_begin()));
      MemberScan inner(text, scan.value_begin());
      append_members(out, text, inner, below);
      if (left > 0) scan.ends_at(inner.leave());
    }
  }
  out.append(lead == '{' ? "{}" : "}");
}

}  // namespace

std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return std::min(string_end(text, at + 1) + 1, text.size());
  if (text[at] == '{' || text[at] == '[') return skip_nested(text, at + 1, 1);
  const auto end = text.find_first_of(",}]", at);
  return end == std::string_view::npos ? text.size() : end;
}

MemberScan::MemberScan(std::string_view text, std::size_t open)
    : text_(text), at_(open < text.size() && text[open] == '{' ? open + 1 : text.size()) {}

MemberScan MemberScan::after(std::string_view text, std::size_t at) {
  MemberScan scan(text);
  scan.at_ = std::min(at, text.size());
  return scan;
}

bool MemberScan::next() {
  if (value_begin_ != 0) at_ = value_end();
  value_begin_ = 0;
  if (at_ < text_.size() && text_[at_] == ',') ++at_;
  if (at_ >= text_.size() || text_[at_] != '"') return false;
  member_begin_ = at_;
  const std::size_t end = string_end(text_, at_ + 1);
  if (end + 1 >= text_.size() || text_[end + 1] != ':') {
    at_ = text_.size();
    return false;
  }
  key_ = text_.substr(at_ + 1, end - at_ - 1);
  value_begin_ = end + 2;
  value_end_ = 0;
  return true;
}

std::size_t MemberScan::value_end() const noexcept {
  if (value_end_ == 0) value_end_ = skip_value(text_, value_begin_);
  return value_end_;
}

std::size_t MemberScan::leave() const noexcept {
  const std::size_t from = value_begin_ != 0 ? value_end() : at_;
  return from < text_.size() ? skip_nested(text_, from, 1) : text_.size();
}

std::string scalar_text(std::string_view value) {
  if (value.empty() || value == "null" || value.front() == '{' || value.front() == '[') return {};
  if (value.front() != '"') return std::string(value);
  return json_unescaped(value.substr(1, value.size() < 2 ? 0 : value.size() - 2));
}

std::string json_unescaped(std::string_view content) {
  if (content.find('\\') == std::string_view::npos) return std::string(content);
  std::string text;
  append_json_unescaped(text, content);
  return text;
}

std::string json_members(std::string_view json, std::span<const std::string_view> paths) {
  std::string out;
  MemberScan scan(json, 0);
  append_members(out, json, scan, paths);
  return out;
}

Object decode_members(const ObjectEntry& entry, std::span<const std::string_view> paths, json::storage_ptr storage) {
  const SharedBytes json = entry.json();
  const bool object = json.view().starts_with('{') && json.view().ends_with('}');
  std::optional<Value> tree;
  if (object) tree = read_json(json_members(json.view(), paths), std::move(storage));
  if (!tree) throw UnreadableObject(std::string(entry.key().empty() ? entry.name() : entry.key()));
  return std::move(tree->get_object());
}

}  // namespace BACKPLANE_API
