#include "fields/wire.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "fields/code.hpp"

namespace backplane::fields {
namespace {

constexpr std::size_t kMaxValueDepth = 32;

// Letters, digits and - . / _, which need no escape in JSON or in a path.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (const auto& [first, last] : {std::pair('a', 'z'), std::pair('-', '9'), std::pair('A', 'Z'), std::pair('_', '_')}) {
    for (int c = first; c <= last; ++c) plain[static_cast<std::size_t>(c)] = true;
  }
  return plain;
}();

json::parse_options value_options() noexcept {
  json::parse_options out;
  out.max_depth = kMaxValueDepth;
  return out;
}

// A number outside the range of a double is refused (Go: value out of range).
bool in_range(const Value& value) {
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) return std::all_of(value.get_array().begin(), value.get_array().end(), in_range);
  if (!value.is_object()) return true;
  const Object& members = value.get_object();
  return std::all_of(members.begin(), members.end(), [](const auto& member) { return in_range(member.value()); });
}

Read read_value(std::string_view text, std::string& code, bool key) {
  unsigned char buffer[2048];
  json::monotonic_resource arena(buffer);
  boost::system::error_code error;
  const Value value = json::parse(text, error, &arena, value_options());
  if (error || (key && !value.is_object()) || !in_range(value)) return Read::kMalformed;
  if (!key) {
    append_value_code(code, value);
    return Read::kDone;
  }
  std::vector<const json::key_value_pair*> members;
  members.reserve(value.get_object().size());
  for (const auto& member : value.get_object()) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
  for (const auto* member : members) append_member_code(code, member->key(), member->value());
  return Read::kDone;
}

// The position of the next quote or backslash from `at` on.
std::size_t plain_end(std::string_view text, std::size_t at) noexcept {
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
#endif
  while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
  return at;
}

// A text without escapes, at the beginning of `rest`.
bool plain_text(std::string_view& rest, std::string_view& out) noexcept {
  if (rest.empty() || rest.front() != '"') return false;
  const std::size_t end = rest.find_first_of("\"\\", 1);
  if (end == std::string_view::npos || rest[end] == '\\') return false;
  out = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return true;
}

// A text or an integer, as nearly every key has.
bool plain_value(std::string_view& rest, std::string& code) {
  std::string_view text;
  if (plain_text(rest, text)) {
    append_string_value_code(code, text);
    return true;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const auto size = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || size == 0 || size > 15) return false;
  if (rest.substr(0, size) != std::to_string(number)) return false;  // -0, 007
  if (size < rest.size() && (rest[size] == '.' || rest[size] == 'e' || rest[size] == 'E')) return false;
  append_number_value_code(code, number);
  rest.remove_prefix(size);
  return true;
}

// {"name":"c"} and such: members sorted, nothing escaped, no blanks.  Other texts are parsed.
bool plain_key(std::string_view rest, std::string& code) {
  if (rest.size() < 2 || rest.front() != '{') return false;
  rest.remove_prefix(1);
  std::string_view last;
  for (bool first = true;; first = false) {
    std::string_view name;
    if (!plain_text(rest, name) || (!first && name <= last) || rest.empty() || rest.front() != ':') return false;
    rest.remove_prefix(1);
    code.push_back(1);
    append_text_code(code, name);
    if (!plain_value(rest, code) || rest.empty()) return false;
    last = name;
    const char next = rest.front();
    rest.remove_prefix(1);
    if (next == '}') return rest.empty();
    if (next != ',') return false;
  }
}

}  // namespace

Read read_element(std::string_view wire, std::string& code) {
  if (wire.size() < 2 || wire[1] != ':') return Read::kMalformed;
  const std::string_view rest = wire.substr(2);
  const auto begin = [&](PathElement::Kind kind) { code.assign(1, static_cast<char>(kind)); };
  switch (wire[0]) {
    case 'f':
      begin(PathElement::Kind::kField);
      code.append(rest);
      return Read::kDone;
    case 'k':
      begin(PathElement::Kind::kKey);
      if (plain_key(rest, code)) return Read::kDone;
      begin(PathElement::Kind::kKey);
      return read_value(rest, code, true);
    case 'v': {
      begin(PathElement::Kind::kValue);
      std::string_view plain = rest;
      if (plain_value(plain, code) && plain.empty()) return Read::kDone;
      begin(PathElement::Kind::kValue);
      return read_value(rest, code, false);
    }
    case 'i': {
      std::int64_t index = 0;
      const std::string_view digits = rest.starts_with('+') ? rest.substr(1) : rest;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
      if (error != std::errc() || end != digits.data() + digits.size()) return Read::kMalformed;
      begin(PathElement::Kind::kIndex);
      code += index_code(index);
      return Read::kDone;
    }
    default:
      return Read::kUnknown;
  }
}

bool is_plain_name(std::string_view name) noexcept {
  return std::all_of(name.begin(), name.end(), [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
}

void append_field_name(std::string& out, std::string_view name, std::string& wire) {
  if (is_plain_name(name)) {
    constexpr std::string_view kBegin = R"("f:)", kEnd = R"(":)";
    const std::size_t at = out.size();
    out.resize(at + kBegin.size() + name.size() + kEnd.size());
    char* const to = std::copy(kBegin.begin(), kBegin.end(), out.data() + at);
    std::copy(kEnd.begin(), kEnd.end(), std::copy(name.begin(), name.end(), to));
    return;
  }
  wire.assign("f:").append(name);
  append_json_string(out, wire);
  out += ':';
}

void append_element_name(std::string& out, const PathElement& element, std::string& wire) {
  if (element.kind() == PathElement::Kind::kField) return append_field_name(out, element.name(), wire);
  wire.clear();
  element.append_wire(wire);
  append_json_string(out, wire);
  out += ':';
}

void WireReader::blanks() noexcept {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
}

bool WireReader::take(char c) noexcept {
  blanks();
  if (!ok_ || at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool WireReader::enter() {
  if (take('{')) {
    first_ = true;
    return true;
  }
  if (ok_ && text_.substr(at_).starts_with("null")) {
    at_ += 4;
    return false;
  }
  fail();
  return false;
}

bool WireReader::next(std::string_view& name) {
  if (!ok_ || take('}')) {
    first_ = false;
    return false;
  }
  if (!first_ && !take(',')) {
    fail();
    return false;
  }
  first_ = false;
  if (read_name(name) && take(':')) return true;
  fail();
  return false;
}

bool WireReader::skip_text() noexcept {
  for (++at_; (at_ = plain_end(text_, at_)) < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      ++at_;
      return true;
    }
    ++at_;  // the escaped character
  }
  return false;
}

bool WireReader::read_name(std::string_view& name) {
  blanks();
  if (at_ >= text_.size() || text_[at_] != '"') return false;
  const std::size_t begin = at_;
  if (!skip_text()) return false;
  const std::string_view quoted_name = text_.substr(begin, at_ - begin);
  name = quoted_name.substr(1, quoted_name.size() - 2);
  const auto special = [](char c) { return c == '\\' || static_cast<unsigned char>(c) < 0x20; };
  if (std::none_of(name.begin(), name.end(), special)) return true;
  // Nearly every escape is \".
  unescaped_.clear();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '\\') {
      if (special(name[i])) return false;
      unescaped_.push_back(name[i]);
    } else if (i + 1 < name.size() && (name[i + 1] == '"' || name[i + 1] == '\\' || name[i + 1] == '/')) {
      unescaped_.push_back(name[++i]);
    } else {
      boost::system::error_code error;
      const Value parsed = json::parse(quoted_name, error);
      if (error) return false;
      unescaped_ = std::string_view(parsed.get_string());
      break;
    }
  }
  name = unescaped_;
  return true;
}

void WireReader::skip() {
  blanks();
  std::size_t depth = 0;
  while (ok_ && at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!skip_text()) break;
    } else if ((c == ',' || c == '}' || c == ']') && depth == 0) {
      return;
    } else {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
    if (depth == 0 && (c == '}' || c == ']' || c == '"')) return;
  }
  fail();
}

bool WireReader::at_end() noexcept {
  blanks();
  return ok_ && at_ == text_.size();
}

bool TreeReader::enter() {
  if (ok_ && value_->is_object()) {
    levels_.push_back({&value_->get_object(), 0});
    return true;
  }
  ok_ = ok_ && value_->is_null();
  return false;
}

bool TreeReader::next(std::string_view& name) {
  if (!ok_) return false;
  Level& level = levels_.back();
  if (level.at == level.object->size()) {
    levels_.pop_back();
    return false;
  }
  const json::key_value_pair& member = *(level.object->begin() + static_cast<std::ptrdiff_t>(level.at++));
  name = member.key();
  value_ = &member.value();
  return true;
}

}  // namespace backplane::fields
