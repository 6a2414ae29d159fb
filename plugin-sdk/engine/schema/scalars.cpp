#include "schema/scalars.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backplane/types/names.hpp"
#include "text/base64.hpp"
#include "text/go_time.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kQuantityFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kQuantitySuffix = "unable to parse quantity's suffix";

std::string_view text_of(const Value& value) noexcept { return value.get_string(); }

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Which of its two errors resource.ParseQuantity returns for an invalid text.
std::string_view quantity_complaint(std::string_view text) noexcept {
  if (text.empty()) return kQuantityFormat;
  std::size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
  auto digits = [&] {
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  };
  digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits();
  }
  while (at < text.size() && std::string_view("eEinumkKMGTP").find(text[at]) != std::string_view::npos) ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  digits();
  return at < text.size() ? kQuantityFormat : kQuantitySuffix;
}

template <class Integer>
bool fits(const Value& value) noexcept {
  if (!value.is_int64()) return false;
  return value.get_int64() >= std::numeric_limits<Integer>::min() && value.get_int64() <= std::numeric_limits<Integer>::max();
}

}  // namespace

bool decode_time(Value& value, bool micro, Decode& decode, const Frame& frame) {
  if (value.is_null()) return true;
  if (!value.is_string()) return decode.fatal_type_error(value, false, "string", frame);
  if (is_canonical_time(text_of(value), micro)) return true;
  std::string error;
  const auto time = parse_go_time(text_of(value), micro, error);
  if (!time) return decode.fatal(std::move(error));
  value.get_string() = print_go_time(*time, micro);
  return true;
}

bool decode_duration(Value& value, Decode& decode, const Frame& frame) {
  if (value.is_null()) return true;
  if (!value.is_string()) return decode.fatal_type_error(value, false, "string", frame);
  std::string error;
  const auto nanoseconds = parse_go_duration(text_of(value), error);
  if (!nanoseconds) return decode.fatal(std::move(error));
  value.get_string() = print_go_duration(*nanoseconds);
  return true;
}

bool decode_quantity(Value& value, Decode& decode) {
  if (value.is_null()) return true;
  const std::string printed = value.is_string() ? std::string() : to_json(value);
  const std::string_view text = value.is_string() ? trimmed(text_of(value)) : std::string_view(printed);
  const auto canonical = canonical_quantity(text);
  if (!canonical) return decode.fatal(std::string(quantity_complaint(text)));
  if (!value.is_string()) {
    value = std::string_view(*canonical);
  } else if (text_of(value) != *canonical) {
    value.get_string() = *canonical;
  }
  return true;
}

bool decode_int_or_string(Value& value, Decode& decode, const Frame& frame) {
  if (value.is_null() || value.is_string() || fits<std::int32_t>(value)) return true;
  return decode.fatal_type_error(value, true, "int32", frame);
}

bool decode_bytes(Value& value, const Type& type, Decode& decode, const Frame& frame) {
  if (value.is_null()) return true;
  if (value.is_string()) {
    if (is_canonical_base64(text_of(value))) return true;
    std::string bytes;
    if (const auto bad = decode_go_base64(text_of(value), bytes)) {
      return decode.keep("illegal base64 data at input byte " + std::to_string(*bad));
    }
    value.get_string() = encode_base64(bytes);
    return true;
  }
  if (!value.is_array()) return decode.type_error(value, false, type, frame);
  std::string bytes;
  for (const Value& item : value.get_array()) {
    if (!item.is_null() && !fits<std::uint8_t>(item)) return decode.type_error(item, true, "uint8", frame);
    bytes.push_back(static_cast<char>(item.is_null() ? 0 : item.get_int64()));
  }
  value = std::string_view(encode_base64(bytes));
  return true;
}

bool decode_integer(Value& value, const Type& type, Decode& decode, const Frame& frame) {
  if (value.is_null()) return true;
  // A map's number is converted as Go converts: a whole float is an integer, and 32 bits wrap.
  if (decode.restores() && value.is_double() && value.get_double() == std::trunc(value.get_double()) &&
      std::fabs(value.get_double()) < 9.2e18) {
    value = static_cast<std::int64_t>(value.get_double());
  }
  if (decode.restores() && value.is_int64() && type.form() == Form::kInt32) value = static_cast<std::int32_t>(value.get_int64());
  const bool good = type.form() == Form::kInt32 ? fits<std::int32_t>(value) : fits<std::int64_t>(value);
  return good || decode.type_error(value, true, type, frame);
}

bool is_percent(std::string_view text) noexcept {
  return text.size() > 1 && text.back() == '%' && std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t number_or_percent(const Value& value) noexcept {
  if (value.is_int64()) return value.get_int64();
  const std::string_view text = value.is_string() ? std::string_view(value.get_string()) : std::string_view();
  if (!is_percent(text)) return 0;
  constexpr std::size_t kMostDigits = 9;
  std::int64_t number = 0;
  for (char digit : text.substr(0, std::min(text.size() - 1, kMostDigits))) number = number * 10 + (digit - '0');
  return number;
}

bool is_zero(const Value& value) noexcept {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    case json::kind::double_:
      return value.get_double() == 0;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
  }
  return false;
}

}  // namespace backplane::schema
