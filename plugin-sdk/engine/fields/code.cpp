#include "fields/code.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace backplane::fields {
namespace {

enum Kind : unsigned char { kNumber = 1, kString = 2, kBool = 3, kList = 4, kMap = 5, kNull = 6 };
constexpr char kItem = 1;  // an item or member follows
constexpr char kEnd = 0;   // no further item or member
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
// The difference of an integer to the nearest float64: at most 512 in either direction.
constexpr std::int64_t kMiddle = 0x8000;

template <class Number>
void append_bytes(std::string& out, Number number) {
  for (int shift = (static_cast<int>(sizeof number) - 1) * 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> shift));
  }
}

std::uint64_t sortable(double number) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number);  // one zero
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double unsortable(std::uint64_t bits) noexcept { return std::bit_cast<double>((bits & kSign) != 0 ? bits & ~kSign : ~bits); }

void append_number_code(std::string& out, double number, std::int64_t beyond) {
  out.push_back(kNumber);
  append_bytes(out, sortable(number));
  append_bytes(out, static_cast<std::uint16_t>(beyond + kMiddle));
}

// 2^63 as a double does not fit into std::int64_t.
constexpr double kAboveWhole = 9223372036854775808.0;

bool whole(double number) noexcept { return number >= -kAboveWhole && number < kAboveWhole && std::floor(number) == number; }

// Appends a number as Go's %v prints it: with an exponent from seven digits on.
void append_printed_number(std::string& out, double number) {
  char text[64];
  const auto scientific = std::to_chars(text, text + sizeof text - 1, number, std::chars_format::scientific);
  *scientific.ptr = '\0';
  const std::string_view long_form(text);
  const std::size_t mark = long_form.find('e');
  const int exponent = mark == std::string_view::npos ? 0 : std::atoi(long_form.data() + mark + 1);
  if (exponent < -4 || exponent >= 6) {
    out += long_form;
    return;
  }
  const auto fixed = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed);
  out.append(text, static_cast<std::size_t>(fixed.ptr - text));
}

void append_sorted_members(std::string& out, const Object& object) {
  std::vector<const json::key_value_pair*> members;
  members.reserve(object.size());
  for (const auto& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
  for (const auto* member : members) append_member_code(out, member->key(), member->value());
}

}  // namespace

void append_text_code(std::string& out, std::string_view text) {
  for (std::size_t zero = text.find('\0'); zero != std::string_view::npos; zero = text.find('\0')) {
    out.append(text.substr(0, zero + 1)).push_back('\xFF');
    text.remove_prefix(zero + 1);
  }
  out.append(text).append(2, '\0');
}

void append_string_value_code(std::string& out, std::string_view text) {
  out.push_back(kString);
  append_text_code(out, text);
}

void append_number_value_code(std::string& out, std::int64_t number) {
  const auto near = static_cast<double>(number);
  // Near the largest int64, the double may be outside its range.
  const std::int64_t beyond = near >= kAboveWhole ? number - INT64_MAX - 1 : number - static_cast<std::int64_t>(near);
  append_number_code(out, near, beyond);
}

void append_bool_value_code(std::string& out, bool value) {
  out.push_back(kBool);
  out.push_back(value ? 1 : 0);
}

void append_value_code(std::string& out, const Value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out.push_back(kNull);
      return;
    case json::kind::bool_:
      return append_bool_value_code(out, value.get_bool());
    case json::kind::int64:
      return append_number_value_code(out, value.get_int64());
    case json::kind::uint64:
      return append_number_code(out, static_cast<double>(value.get_uint64()), 0);
    case json::kind::double_:
      return append_number_code(out, value.get_double(), 0);
    case json::kind::string:
      return append_string_value_code(out, value.get_string());
    case json::kind::array:
      out.push_back(kList);
      for (const Value& item : value.get_array()) {
        out.push_back(kItem);
        append_value_code(out, item);
      }
      break;
    case json::kind::object:
      out.push_back(kMap);
      append_sorted_members(out, value.get_object());
      break;
  }
  out.push_back(kEnd);
}

void append_member_code(std::string& out, std::string_view name, const Value& value) {
  out.push_back(kItem);
  append_text_code(out, name);
  append_value_code(out, value);
}

std::string index_code(std::int64_t at) {
  std::string out;
  append_bytes(out, static_cast<std::uint64_t>(at) ^ kSign);
  return out;
}

unsigned char CodeReader::byte() noexcept {
  const auto out = static_cast<unsigned char>(rest_.front());
  rest_.remove_prefix(1);
  return out;
}

bool CodeReader::next_member() noexcept {
  if (rest_.empty() || rest_.front() != kItem) return false;
  rest_.remove_prefix(1);
  return true;
}

std::string CodeReader::text() {
  std::string out;
  for (;;) {
    const std::size_t zero = rest_.find('\0');
    const bool end = rest_[zero + 1] == '\0';
    out.append(rest_.substr(0, end ? zero : zero + 1));
    rest_.remove_prefix(zero + 2);
    if (end) return out;
  }
}

std::int64_t CodeReader::index() noexcept {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
  return static_cast<std::int64_t>(bits ^ kSign);
}

void CodeReader::append_number(std::string& out, bool printed) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | byte();
  std::int64_t beyond = byte();
  beyond = (beyond << 8 | byte()) - kMiddle;
  const double near = unsortable(bits);
  if (printed && !(exact_ && whole(near))) {
    append_printed_number(out, near);
  } else if (near >= kAboveWhole && beyond < 0) {
    out += std::to_string(INT64_MAX + beyond + 1);
  } else if (whole(near)) {
    out += std::to_string(static_cast<std::int64_t>(near) + beyond);
  } else {
    append_json(out, Value(near));
  }
}

template <class Each>
void CodeReader::members(Each each) {
  for (bool first = true; next_member(); first = false) each(first);
  if (!rest_.empty()) rest_.remove_prefix(1);
}

void CodeReader::skip_value() {
  std::string passed_over;
  append_json_value(passed_over);
}

// Appends the value as JSON, or as Go's %v prints it: texts quoted in Go's way, maps without braces.
void CodeReader::append_value(std::string& out, bool printed) {
  switch (byte()) {
    case kNumber:
      return append_number(out, printed);
    case kString:
      if (!printed) return append_json_string(out, text());
      out += quoted(text());
      return;
    case kBool:
      out += byte() != 0 ? "true" : "false";
      return;
    case kList:
      out += '[';
      members([&](bool first) {
        if (!first) out += ',';
        append_value(out, printed);
      });
      out += ']';
      return;
    case kMap:
      if (!printed) out += '{';
      members([&](bool first) { append_member(out, printed, first); });
      if (!printed) out += '}';
      return;
    default:
      out += "null";
  }
}

void CodeReader::append_member(std::string& out, bool printed, bool first) {
  if (printed) {
    out += text();
    out += '=';
  } else {
    if (!first) out += ',';
    append_json_string(out, text());
    out += ':';
  }
  append_value(out, printed);
}

}  // namespace backplane::fields
