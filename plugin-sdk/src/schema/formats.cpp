#include "schema/formats.hpp"

#include <algorithm>
#include <boost/regex.hpp>
#include <charconv>
#include <string>

#include "backplane/ip_text.hpp"
#include "schema/base64.hpp"
#include "schema/go_time.hpp"

namespace backplane::schema {
namespace {

using Check = bool (*)(std::string_view);

bool any(std::string_view) { return true; }

bool matches(std::string_view text, const boost::regex& pattern) { return boost::regex_match(text.begin(), text.end(), pattern); }

bool is_ipv4(std::string_view text) {
  unsigned char bytes[4];
  return read_ipv4(text, bytes);
}
bool is_ipv6(std::string_view text) {
  unsigned char bytes[16];
  return read_ipv6(text, bytes);
}

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash), length = text.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  const bool number = error == std::errc() && end == length.data() + length.size();
  return number && ((is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128));
}

bool is_date_time(std::string_view text) {
  std::string error;
  // strfmt takes a lower-case letter, and a fraction, as RFC 3339 does.
  std::string upper(text);
  for (char& c : upper) c = c == 't' ? 'T' : c == 'z' ? 'Z' : c;
  return parse_go_time(upper, false, error).has_value();
}
bool is_date(std::string_view text) {
  std::string error;
  return text.size() == 10 && parse_go_time(std::string(text) + "T00:00:00Z", false, error).has_value();
}

bool is_duration(std::string_view text) {
  std::string error;
  if (parse_go_duration(text, error)) return true;
  static const boost::regex pattern("(\\d+)\\s*([A-Za-z\xC2\xB5]+)");  // "22 ns", "3 days": a number and a unit of strfmt's list
  static const char* const kUnits[] = {"ns",          "nano",         "nanosecond", "nanoseconds", "us",          "\xC2\xB5s",    "micro",
                                       "microsecond", "microseconds", "ms",         "milli",       "millisecond", "milliseconds", "s",
                                       "sec",         "second",       "seconds",    "m",           "min",         "minute",       "minutes",
                                       "h",           "hr",           "hour",       "hours",       "d",           "day",          "days",
                                       "w",           "week",         "weeks"};
  boost::cmatch parts;
  if (!boost::regex_match(text.begin(), text.end(), parts, pattern)) return false;
  const std::string unit = parts[2].str();
  return std::any_of(std::begin(kUnits), std::end(kUnits), [&](const char* known) { return unit == known || unit + "s" == known; });
}

bool is_byte(std::string_view text) {
  std::string bytes;
  return !decode_go_base64(text, bytes);
}

bool is_uri(std::string_view text) {
  static const boost::regex pattern("(?:[A-Za-z][A-Za-z0-9+.-]*:|/)[^\\x00-\\x20\\x7f]*");
  return matches(text, pattern);
}
bool is_email(std::string_view text) {
  static const boost::regex pattern("(?:[^<>@\\s]|\"[^\"]*\")+@[^<>@\\s]+|.*<[^<>@\\s]+@[^<>@\\s]+>\\s*");
  return matches(text, pattern);
}
bool is_hostname(std::string_view text) {
  static const boost::regex pattern("[a-zA-Z0-9](?:-?[a-zA-Z0-9]{0,62})*(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*");
  return text.size() <= 255 && matches(text, pattern);
}
bool is_mac(std::string_view text) {
  static const boost::regex pattern(
      "[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}|[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){7}|[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){5}|"
      "[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){7}|[0-9a-fA-F]{4}(?:\\.[0-9a-fA-F]{4}){2}|[0-9a-fA-F]{4}(?:\\.[0-9a-fA-F]{4}){3}");
  return matches(text, pattern);
}

bool is_uuid_like(std::string_view text, const char* version, const char* variant) {
  const std::string hex = "[0-9a-fA-F]";
  const boost::regex pattern(hex + "{8}-?" + hex + "{4}-?" + version + hex + "{3}-?" + variant + hex + "{3}-?" + hex + "{12}");
  return matches(text, pattern);
}
bool is_uuid(std::string_view text) { return is_uuid_like(text, "[0-9a-fA-F]", "[0-9a-fA-F]"); }
bool is_uuid3(std::string_view text) { return is_uuid_like(text, "3", "[0-9a-fA-F]"); }
bool is_uuid4(std::string_view text) { return is_uuid_like(text, "4", "[89abAB]"); }
bool is_uuid5(std::string_view text) { return is_uuid_like(text, "5", "[89abAB]"); }

bool is_isbn10(std::string_view text) {
  int sum = 0, count = 0;
  for (const char c : text) {
    if (c == '-' || c == ' ') continue;
    const bool x = (c == 'X') && count == 9;
    if (!x && (c < '0' || c > '9')) return false;
    sum += ++count * (x ? 10 : c - '0');
  }
  return count == 10 && sum % 11 == 0;
}
bool is_isbn13(std::string_view text) {
  int sum = 0, count = 0;
  for (const char c : text) {
    if (c == '-' || c == ' ') continue;
    if (c < '0' || c > '9') return false;
    sum += (count++ % 2 == 0 ? 1 : 3) * (c - '0');
  }
  return count == 13 && sum % 10 == 0;
}
bool is_isbn(std::string_view text) { return is_isbn10(text) || is_isbn13(text); }

// Luhn's check over the digits.
bool is_credit_card(std::string_view text) {
  int sum = 0, count = 0;
  for (auto c = text.rbegin(); c != text.rend(); ++c) {
    if (*c < '0' || *c > '9') continue;
    int digit = *c - '0';
    if (count++ % 2 == 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return count >= 13 && count <= 16 && sum % 10 == 0;
}
bool is_ssn(std::string_view text) {
  static const boost::regex pattern("\\d{3}[- ]?\\d{2}[- ]?\\d{4}");
  return matches(text, pattern);
}
bool is_hex_color(std::string_view text) {
  static const boost::regex pattern("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})");
  return matches(text, pattern);
}
bool is_rgb_color(std::string_view text) {
  static const boost::regex pattern("rgb\\(\\s*(?:(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*(?:,\\s*|\\))){3}");
  return matches(text, pattern);
}
bool is_object_id(std::string_view text) {
  static const boost::regex pattern("[0-9a-fA-F]{24}");
  return matches(text, pattern);
}
bool is_short_name(std::string_view text) {
  static const boost::regex pattern("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?");
  return text.size() <= 63 && matches(text, pattern);
}
bool is_long_name(std::string_view text) {
  static const boost::regex pattern("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*");
  return text.size() <= 253 && matches(text, pattern);
}

struct Format {
  std::string_view name;  // without dashes, except for the Kubernetes ones
  Check check;
};
constexpr Format kFormats[] = {
    {"bsonobjectid", is_object_id},
    {"uri", is_uri},
    {"email", is_email},
    {"hostname", is_hostname},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"cidr", is_cidr},
    {"mac", is_mac},
    {"uuid", is_uuid},
    {"uuid3", is_uuid3},
    {"uuid4", is_uuid4},
    {"uuid5", is_uuid5},
    {"isbn", is_isbn},
    {"isbn10", is_isbn10},
    {"isbn13", is_isbn13},
    {"creditcard", is_credit_card},
    {"ssn", is_ssn},
    {"hexcolor", is_hex_color},
    {"rgbcolor", is_rgb_color},
    {"byte", is_byte},
    {"password", any},
    {"date", is_date},
    {"duration", is_duration},
    {"datetime", is_date_time},
    {"k8sshortname", is_short_name},
    {"k8slongname", is_long_name},
};

const Format* find_format(std::string_view format) noexcept {
  char name[32];
  std::size_t size = 0;
  for (const char c : format) {
    if (c == '-') continue;
    if (size == sizeof name) return nullptr;
    name[size++] = c;
  }
  for (const Format& known : kFormats) {
    if (known.name == std::string_view(name, size)) return &known;
  }
  return nullptr;
}

}  // namespace

bool is_known_format(std::string_view format) noexcept { return find_format(format) != nullptr; }

bool matches_format(std::string_view format, std::string_view text) {
  const Format* known = find_format(format);
  try {
    return !known || known->check(text);
  } catch (const boost::regex_error&) {
    return false;  // Too much work for the pattern: no good text needs it.
  }
}

}  // namespace backplane::schema
