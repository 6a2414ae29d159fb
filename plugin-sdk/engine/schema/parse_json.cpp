// Parses a body into a tree in one pass.
//
// The fast path is Boost.JSON's parser with a handler that builds the tree in the caller's storage and detects whether an object may
// repeat a key.  Other texts (repeated keys, invalid UTF-8, syntax errors) are parsed again by a slower reader.
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cstring>

#include "backplane/types/schema.hpp"
#include "schema/go_syntax.hpp"
#include "schema/parse_repeated.hpp"
#include "text/utf8.hpp"

namespace backplane BACKPLANE_API {
namespace {

enum class Refusal : unsigned char { kNone, kHugeNumber };

std::uint64_t load(const char* bytes, std::size_t count) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

// Equal keys have equal hashes; different keys rarely do.
std::uint64_t mark_of(std::string_view key) noexcept {
  const std::size_t size = key.size();
  const std::uint64_t head = load(key.data(), size < 8 ? size : 8);
  const std::uint64_t tail = size > 8 ? load(key.data() + size - 8, 8) : 0;
  const std::uint64_t middle = size > 24 ? load(key.data() + size / 2 - 4, 8) : 0;
  std::uint64_t h = (head ^ 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 29) ^ tail) * 0x94D049BB133111EBu;
  return (h ^ (h >> 31) ^ middle ^ size) * 0x9E3779B97F4A7C15u;
}

class TreeHandler {
 public:
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  using Error = boost::system::error_code;

  TreeHandler(json::storage_ptr storage, unsigned char* scratch, std::size_t scratch_size)
      : stack_(json::storage_ptr(), scratch, scratch_size) {
    stack_.reset(std::move(storage));
    marks_.reserve(64);
  }

  bool repeated() const noexcept { return repeated_; }
  Refusal refusal() const noexcept { return refusal_; }
  std::string& refused_text() noexcept { return number_; }
  Value release() { return stack_.release(); }

  bool on_document_begin(Error&) { return true; }
  bool on_document_end(Error&) { return true; }
  bool on_array_begin(Error&) { return true; }
  bool on_array_end(std::size_t n, Error&) { return stack_.push_array(n), true; }
  bool on_object_begin(Error&) { return true; }
  bool on_object_end(std::size_t n, Error&) {
    if (!repeated_ && n > 1) repeated_ = has_equal(n);
    marks_.resize(marks_.size() - n);
    stack_.push_object(n);
    return true;
  }
  bool on_string_part(std::string_view part, std::size_t, Error&) { return stack_.push_chars(part), true; }
  bool on_string(std::string_view part, std::size_t, Error&) { return stack_.push_string(part), true; }
  bool on_key_part(std::string_view part, std::size_t, Error&) {
    key_.append(part);
    stack_.push_chars(part);
    return true;
  }
  bool on_key(std::string_view part, std::size_t, Error&) {
    if (key_.empty()) {
      marks_.push_back(mark_of(part));
    } else {
      marks_.push_back(mark_of(key_.append(part)));
      key_.clear();
    }
    stack_.push_key(part);
    return true;
  }
  bool on_number_part(std::string_view part, Error&) { return number_.append(part), true; }
  bool on_int64(std::int64_t number, std::string_view, Error&) {
    number_.clear();
    return stack_.push_int64(number), true;
  }
  bool on_uint64(std::uint64_t number, std::string_view, Error&) {
    number_.clear();
    return stack_.push_uint64(number), true;
  }
  // Boost 1.81 rounds some doubles wrongly: the text is read again.
  bool on_double(double, std::string_view part, Error& error) {
    number_.append(part);
    double number = 0;
    const auto result = std::from_chars(number_.data(), number_.data() + number_.size(), number);
    if (result.ec == std::errc::result_out_of_range && number_is_huge()) {
      refusal_ = Refusal::kHugeNumber;
      error = json::error::not_exact;
      return false;
    }
    number_.clear();
    return stack_.push_double(number), true;
  }
  bool on_bool(bool value, Error&) { return stack_.push_bool(value), true; }
  bool on_null(Error&) { return stack_.push_null(), true; }
  bool on_comment_part(std::string_view, Error&) { return true; }
  bool on_comment(std::string_view, Error&) { return true; }

 private:
  bool has_equal(std::size_t n) {
    const auto begin = marks_.end() - static_cast<std::ptrdiff_t>(n);
    if (n > 16) {
      std::sort(begin, marks_.end());
      return std::adjacent_find(begin, marks_.end()) != marks_.end();
    }
    for (auto one = begin; one != marks_.end(); ++one) {
      if (std::find(one + 1, marks_.end(), *one) != marks_.end()) return true;
    }
    return false;
  }
  // Too large for a double; too small numbers are zero.
  bool number_is_huge() const noexcept {
    const std::size_t exponent = number_.find_first_of("eE");
    return exponent == std::string::npos || exponent + 1 >= number_.size() || number_[exponent + 1] != '-';
  }

  json::value_stack stack_;
  std::vector<std::uint64_t> marks_;  // hashes of the keys of the open objects
  std::string key_, number_;          // pieces of a key or number that arrived in parts
  bool repeated_ = false;
  Refusal refusal_ = Refusal::kNone;
};

// The text with Go's replacements of invalid UTF-8 and of unpaired surrogate escapes.
std::string sanitized(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  auto surrogate = [&](std::size_t at, char low, char high) {
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u' || (text[at + 2] != 'd' && text[at + 2] != 'D')) return false;
    const char digit = static_cast<char>(text[at + 3] | 0x20);
    return digit >= low && digit <= high;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (surrogate(i, '8', '9') || surrogate(i, 'a', 'b')) {
      const bool pair = surrogate(i + 6, 'c', 'f');
      out.append(pair ? text.substr(i, 12) : "\\ufffd");
      i += pair ? 12 : 6;
    } else if (surrogate(i, 'c', 'f')) {
      out.append("\\ufffd");
      i += 6;
    } else if (text[i] == '\\') {
      out.append(text.substr(i, 2));
      i += 2;
    } else {
      const Rune rune = decode_rune(text.substr(i));
      out.append(rune.valid ? text.substr(i, rune.size) : "\xEF\xBF\xBD");
      i += rune.size;
    }
  }
  return out;
}

using Parser = json::basic_parser<TreeHandler>;

// True if the tree is built; otherwise `refusal` may have the reason.
bool parse(std::string_view text, const json::storage_ptr& storage, Value& out, bool& repeated, std::string& huge_number) {
  alignas(16) unsigned char scratch[8192];
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  Parser parser(options, storage, scratch, sizeof scratch);
  boost::system::error_code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (parser.handler().refusal() == Refusal::kHugeNumber) huge_number = std::move(parser.handler().refused_text());
  if (error || used < text.size()) return false;
  repeated = parser.handler().repeated();
  out = parser.handler().release();
  return true;
}

}  // namespace

Result<Value> parse_json(std::string_view text, json::storage_ptr storage, DecodeReport* report) {
  Value tree(storage);
  bool repeated = false;
  std::string huge_number, clean;
  if (!parse(text, storage, tree, repeated, huge_number)) {
    if (auto message = schema::go_syntax_error(text)) return bad_request(std::move(*message));
    if (huge_number.empty()) {
      clean = sanitized(text);
      text = clean;
    }
    if (!huge_number.empty() || !parse(text, storage, tree, repeated, huge_number)) {
      return bad_request("json: cannot unmarshal number " + huge_number + " into Go value of type float64");
    }
  }
  if (repeated) return schema::parse_repeated(text, std::move(storage), report);
  return tree;
}

}  // namespace BACKPLANE_API
