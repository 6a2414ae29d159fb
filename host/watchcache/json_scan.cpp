#include "watchcache/json_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <utility>

#include "backplane/types/json_reading.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace backplane {
namespace {

// `at` is the offset behind the opening quote; gives the offset of the closing one.
std::size_t string_end(std::string_view text, std::size_t at) {
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const int found = _mm_movemask_epi8(special);
    if (found == 0) continue;
    at += static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(found)));
    if (text[at] == '"') return at;
    break;  // an escape: byte by byte from here
  }
#endif
  for (; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return text.size();
}

#ifdef __SSE2__
// Of a few bits: the baseline of x86-64 has no instruction for it, and to call a function costs more.
std::size_t bit_count(std::uint64_t bits) noexcept {
  std::size_t count = 0;
  for (; bits != 0; bits &= bits - 1) ++count;
  return count;
}

// 64 bytes of JSON as bits.
struct Block {
  std::uint64_t quotes = 0;
  std::uint64_t slashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;

  explicit Block(const char* text) {
    for (int i = 0; i < 4; ++i) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * i));
      // '[' and '{', ']' and '}' differ in one bit.
      const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
      quotes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))) << (16 * i);
      slashes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))) << (16 * i);
      opens |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) << (16 * i);
      closes |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) << (16 * i);
    }
  }
  static std::uint64_t bits(__m128i bytes) { return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(bytes))); }
};

// Goes through nested brackets block by block.
class NestedScan {
 public:
  explicit NestedScan(std::size_t depth) : depth_(depth) {}
  // The offset behind the bracket that closes the last level, when it is in this block; else 0.
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
  // Bytes from an opening quote up to the closing one, without it.
  std::uint64_t in_string(const Block& block) {
    std::uint64_t quotes = block.quotes & ~escaped_bytes(block.slashes);
    for (int step = 1; step < 64; step *= 2) quotes ^= quotes << step;
    const std::uint64_t inside = quotes ^ string_;
    string_ = (inside >> 63) != 0 ? ~std::uint64_t{0} : 0;
    return inside;
  }
  // Bytes with an odd number of backslashes before them.
  std::uint64_t escaped_bytes(std::uint64_t slashes) {
    if (slashes == 0) return std::exchange(escaped_, 0);
    std::uint64_t found = 0;
    std::uint64_t escaped = escaped_;
    escaped_ = 0;
    for (std::uint64_t left = slashes | escaped; left != 0;) {
      const std::uint64_t lowest = left & -left;
      left &= left - 1;
      if ((escaped & lowest) != 0) {
        found |= lowest;  // whatever it is, it means nothing
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
  std::uint64_t string_ = 0;   // all ones: the block begins inside a string
  std::uint64_t escaped_ = 0;  // 1: its first byte is escaped
};
#endif

// `at` stands outside of strings, `depth` brackets deep; gives the offset behind the one that closes them all.
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

std::string plain_text(std::string_view quoted_content) {
  if (quoted_content.find('\\') == std::string_view::npos) return std::string(quoted_content);
  std::string text;
  append_json_unescaped(text, quoted_content);
  return text;
}

// Members of ObjectMeta that are printed before resourceVersion.
constexpr std::array<std::string_view, 5> kBeforeVersion = {"name", "generateName", "namespace", "selfLink", "uid"};

bool before_version(std::string_view key, bool sorted_keys) {
  if (sorted_keys) return key < "resourceVersion";
  return std::find(kBeforeVersion.begin(), kBeforeVersion.end(), key) != kBeforeVersion.end();
}

bool is_type_member(std::string_view key) { return key == "kind" || key == "apiVersion"; }

// Gives the offset behind the labels.
std::size_t scan_labels(std::string_view text, std::size_t open, Labels& labels) {
  using Pair = std::pair<std::string_view, std::string_view>;
  boost::container::small_vector<Pair, 16> found;
  MemberScan scan(text, open);
  while (scan.next()) found.emplace_back(scan.key(), scan.value());
  labels.clear();
  labels.reserve(found.size());
  for (const auto& [key, value] : found) labels.emplace_back(plain_text(key), scalar_text(value));
  if (!std::is_sorted(labels.begin(), labels.end())) std::sort(labels.begin(), labels.end());
  return scan.leave();
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

MemberScan MemberScan::behind(std::string_view text, std::size_t at) {
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
  return plain_text(value.substr(1, value.size() < 2 ? 0 : value.size() - 2));
}

FieldPlan::FieldPlan(const std::vector<SelectableField>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    add(roots_, fields[i].path, i);
    defaults_.push_back(fields[i].default_value);
  }
  behind_metadata_ =
      std::none_of(roots_.begin(), roots_.end(), [](const Node& root) { return is_type_member(root.key) || root.key == "metadata"; });
}

void FieldPlan::add(std::vector<Node>& nodes, std::string_view path, std::size_t field) {
  // ".spec.x" and "spec.x" are the same path.
  if (path.starts_with('.')) path.remove_prefix(1);
  const auto dot = path.find('.');
  const std::string_view head = path.substr(0, dot);
  auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.key == head; });
  if (found == nodes.end()) found = nodes.insert(nodes.end(), Node{std::string(head), {}, {}});
  if (dot == std::string_view::npos) {
    found->fields.push_back(field);
  } else {
    add(found->children, path.substr(dot + 1), field);
  }
}

std::size_t FieldPlan::walk(const std::vector<Node>& nodes, std::string_view text, MemberScan scan,
                            std::vector<std::string>& values) const {
  std::size_t left = nodes.size();
  while (left > 0 && scan.next()) {
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const Node& each) { return each.key == scan.key(); });
    if (node == nodes.end()) continue;
    --left;
    if (!node->fields.empty() && scan.value() != "null") {
      const std::string found = scalar_text(scan.value());
      for (const std::size_t field : node->fields) values[field] = found;
    }
    const bool nested = scan.value_begin() < text.size() && text[scan.value_begin()] == '{';
    // Once through, for what is in it and for where it ends.
    if (nested && !node->children.empty()) scan.ends_at(walk(node->children, text, {text, scan.value_begin()}, values));
  }
  return &nodes == &roots_ ? text.size() : scan.leave();
}

std::vector<std::string> FieldPlan::extract(std::string_view object, std::size_t metadata_end) const {
  std::vector<std::string> values = defaults_;
  const bool behind = behind_metadata_ && metadata_end != 0;
  if (!values.empty()) walk(roots_, object, behind ? MemberScan::behind(object, metadata_end) : MemberScan(object, 0), values);
  return values;
}

MetadataScan scan_metadata(std::string_view object, bool sorted_keys) {
  MetadataScan found;
  MemberScan top(object, 0);
  bool is_first = true;
  while (top.next()) {
    if (top.key() == "metadata") {
      found.found = top.value_begin() < object.size() && object[top.value_begin()] == '{';
      break;
    }
    is_first = is_first && is_type_member(top.key());
  }
  if (!found.found) return found;

  bool placed = false;
  bool any_before = false;
  std::size_t members_end = top.value_begin() + 1;
  MemberScan scan(object, top.value_begin());
  while (scan.next()) {
    const bool labels = scan.key() == "labels" && scan.value_begin() < object.size() && object[scan.value_begin()] == '{';
    if (labels) scan.ends_at(scan_labels(object, scan.value_begin(), found.labels));
    members_end = scan.value_end();
    if (scan.key() == "resourceVersion") {
      found.version_begin = scan.member_begin();
      found.version_end = scan.value_end();
      found.comma_before = found.comma_after = false;
      placed = true;
    } else if (!placed && !before_version(scan.key(), sorted_keys)) {
      found.version_begin = found.version_end = scan.member_begin();
      found.comma_before = false;
      found.comma_after = true;
      placed = true;
    } else if (!placed) {
      any_before = true;
    }
  }
  if (!placed) {
    found.version_begin = found.version_end = members_end;
    found.comma_before = any_before;
  }
  if (is_first) found.end = scan.leave();
  return found;
}

}  // namespace backplane
