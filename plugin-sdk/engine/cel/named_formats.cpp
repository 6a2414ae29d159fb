#include "cel/named_formats.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "backplane/types/ip_text.hpp"
#include "cel/url.hpp"
#include "text/go_time.hpp"

// The checks of kube-openapi's strfmt, including its false positives, because stored API objects may have such values.
namespace backplane::schema {
namespace {

using Check = bool (*)(std::string_view);

bool any(std::string_view) { return true; }

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }
bool matches(std::string_view text, const re2::RE2& pattern) { return re2::RE2::FullMatch(piece(text), pattern); }

bool is_number_in(std::string_view text, unsigned most, unsigned& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && out <= most;
}

// ---- addresses: numbers with leading zeros are decimal, as before Go 1.17

bool is_sloppy_ipv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? text.find('.') : text.size();
    unsigned number = 0;
    if (dot == std::string_view::npos || !is_number_in(text.substr(0, dot), 255, number)) return false;
    text.remove_prefix(std::min(text.size(), dot + 1));
  }
  return true;
}
bool is_ipv6(std::string_view text) {
  unsigned char bytes[16];
  return read_ipv6(text, bytes);
}
// Allows leading zeros in the four decimal numbers that an IPv6 address may end in.
bool is_sloppy_ipv6(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find('.', colon) == std::string_view::npos) return is_ipv6(text);
  return is_sloppy_ipv4(text.substr(colon + 1)) && is_ipv6(std::string(text.substr(0, colon + 1)) + "1.1.1.1");
}
bool is_ipv4(std::string_view text) { return is_sloppy_ipv4(text) || (text.find('.') != std::string_view::npos && is_sloppy_ipv6(text)); }

bool is_cidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash), length = text.substr(slash + 1);
  unsigned bits = 0;
  return is_number_in(length, is_sloppy_ipv4(address) ? 32 : 128, bits) && (is_sloppy_ipv4(address) || is_sloppy_ipv6(address));
}

bool is_mac(std::string_view text) {
  constexpr std::size_t kBytes[] = {6, 8, 20};
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  // Pairs of digits separated by colons or dashes, groups of four separated by dots, or no separators.
  const auto is_row = [&](char mark, std::size_t digits) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (i % (digits + 1) == digits ? text[i] != mark : !is_hex(text[i])) return false;
    }
    const std::size_t groups = (text.size() + 1) / (digits + 1);
    return (text.size() + 1) % (digits + 1) == 0 &&
           std::any_of(std::begin(kBytes), std::end(kBytes), [&](std::size_t bytes) { return groups * digits == 2 * bytes; });
  };
  const bool bare = std::all_of(text.begin(), text.end(), is_hex) &&
                    std::any_of(std::begin(kBytes), std::end(kBytes), [&](std::size_t bytes) { return text.size() == 2 * bytes; });
  return bare || is_row(':', 2) || is_row('-', 2) || is_row('.', 4);
}

// ---- times

bool is_date(std::string_view text) {
  std::string error;
  return text.size() == 10 && parse_go_time(std::string(text) + "T00:00:00Z", false, error).has_value();
}

// Text after a second "t" is ignored; a leap second is refused.
bool is_date_time(std::string_view text) {
  static const re2::RE2 pattern("([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})");
  const std::size_t middle = text.find_first_of("tT");
  if (middle == std::string_view::npos || !is_date(text.substr(0, middle))) return false;
  std::string_view clock = text.substr(middle + 1);
  clock = clock.substr(0, clock.find_first_of("tT"));
  std::string hours, minutes, seconds;
  return re2::RE2::FullMatch(piece(clock), pattern, &hours, &minutes, &seconds) && hours <= "23" && minutes <= "59" && seconds <= "59";
}

bool is_unit(const std::string& unit) {
  static const char* const kNames[] = {"ns", "us", "\xC2\xB5s", "ms", "s", "m", "h", "hr", "d", "w", "wk"};
  static const char* const kBeginnings[] = {"nano", "micro", "milli", "sec", "min", "hour", "day", "week"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* name) { return unit == name; }) ||
         std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](const char* begins) { return unit.starts_with(begins); });
}

// A duration of Go, or a number and a unit ("3 days") anywhere in the text.
bool is_duration(std::string_view text) {
  std::string error;
  if (parse_go_duration(text, error)) return true;
  static const re2::RE2 pattern("([0-9]+)[\\t\\n\\f\\r ]*([A-Za-z\xC2\xB5]+)");
  re2::StringPiece rest = piece(text);
  std::string number, unit;
  bool found = false;
  while (re2::RE2::FindAndConsume(&rest, pattern, &number, &unit)) {
    std::int64_t count = 0;
    const auto [_, failed] = std::from_chars(number.data(), number.data() + number.size(), count);
    if (failed != std::errc()) return false;
    for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    found = found || is_unit(unit);
  }
  return found;
}

// ---- host names and addresses

bool is_uri(std::string_view text) { return cel_detail::request_uri_problem(text).empty(); }

// An address, or a name and an address in angle brackets; comments may follow.
bool is_email(std::string_view text) {
  static const re2::RE2 pattern = [] {
    const std::string blanks = "[ \\t]*", letter = "[^\\x00-\\x20\\x7f()<>\\[\\]:;@\\\\,\".]";
    const std::string dotted = letter + "+(?:\\." + letter + "+)*", quote = "\"(?:[^\"\\\\\\x00-\\x08\\x0a-\\x1f]|\\\\.)+\"";
    const std::string address = "(?:" + dotted + "|" + quote + ")@(?:" + dotted + "|\\[[0-9A-Fa-f:.]+\\])";
    const std::string word = "(?:(?:" + letter + "|\\.)+|" + quote + ")";
    const std::string name = "(?:" + word + "(?:[ \\t]+" + word + ")*" + blanks + ")?";
    return blanks + "(?:" + address + "|" + name + "<" + address + ">)" + blanks + "(?:\\([^()]*\\)" + blanks + ")*";
  }();
  return matches(text, pattern);
}

bool is_hostname(std::string_view text) {
  static const re2::RE2 pattern = [] {
    const std::string letter = "[0-9\\p{L}\\p{S}]", inner = "[-0-9\\p{L}\\p{S}]";
    // The limits are in bytes of a label.
    const std::string single = letter + "-?" + letter + "*";
    const std::string label = letter + "(?:" + inner + "*" + letter + ")?";
    return "(?:" + single + "|(?:" + label + "\\.)+\\p{L}{2,})";
  }();
  if (text.size() > 255 || !matches(text, pattern)) return false;
  constexpr std::size_t kLabelBytes = 63;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    if (end - begin > kLabelBytes) return false;
    begin = end + 1;
  }
  return true;
}

bool is_short_name(std::string_view text) {
  static const re2::RE2 pattern("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?");
  return text.size() <= 63 && matches(text, pattern);
}
bool is_long_name(std::string_view text) {
  static const re2::RE2 pattern("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*");
  return text.size() <= 253 && matches(text, pattern);
}

// ---- identifiers

// Base64 with padding, in one line, and not empty.
bool is_byte(std::string_view text) {
  static const re2::RE2 pattern("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})");
  return matches(text, pattern);
}

std::string uuid_pattern(const char* version, const char* variant) {
  const std::string hex = "[0-9a-fA-F]";
  return hex + "{8}-?" + hex + "{4}-?" + version + hex + "{3}-?" + variant + hex + "{3}-?" + hex + "{12}";
}
bool is_uuid(std::string_view text) {
  static const re2::RE2 pattern(uuid_pattern("[0-9a-fA-F]", "[0-9a-fA-F]"));
  return matches(text, pattern);
}
bool is_uuid3(std::string_view text) {
  static const re2::RE2 pattern(uuid_pattern("3", "[0-9a-fA-F]"));
  return matches(text, pattern);
}
bool is_uuid4(std::string_view text) {
  static const re2::RE2 pattern(uuid_pattern("4", "[89abAB]"));
  return matches(text, pattern);
}
bool is_uuid5(std::string_view text) {
  static const re2::RE2 pattern(uuid_pattern("5", "[89abAB]"));
  return matches(text, pattern);
}

bool is_filler(char c) { return c == '-' || c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

bool is_isbn10(std::string_view text) {
  int sum = 0, count = 0;
  for (const char c : text) {
    if (is_filler(c)) continue;
    const bool x = (c == 'X') && count == 9;
    if (count == 10 || (!x && (c < '0' || c > '9'))) return false;
    sum += ++count * (x ? 10 : c - '0');
  }
  return count == 10 && sum % 11 == 0;
}
bool is_isbn13(std::string_view text) {
  int sum = 0, count = 0;
  for (const char c : text) {
    if (is_filler(c)) continue;
    if (count == 13 || c < '0' || c > '9') return false;
    sum += (count++ % 2 == 0 ? 1 : 3) * (c - '0');
  }
  return count == 13 && sum % 10 == 0;
}
bool is_isbn(std::string_view text) { return is_isbn10(text) || is_isbn13(text); }

// A credit card number of a known issuer, ignoring characters between the digits, with a valid Luhn checksum.
bool is_credit_card(std::string_view text) {
  static const re2::RE2 houses(
      "4\\d{12}(?:\\d{3})?|5[1-5]\\d{14}|6(?:011|5\\d\\d)\\d{12}|3[47]\\d{13}|3(?:0[0-5]|[68]\\d)\\d{11}|(?:2131|1800|35\\d{3})\\d{11}");
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  if (!matches(digits, houses)) return false;
  int sum = 0;
  bool twice = false;
  for (auto c = digits.rbegin(); c != digits.rend(); ++c, twice = !twice) {
    const int digit = (*c - '0') * (twice ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 == 0;
}
bool is_ssn(std::string_view text) {
  static const re2::RE2 pattern("\\d{3}[- ]\\d{2}[- ]\\d{4}");
  return matches(text, pattern);
}
bool is_hex_color(std::string_view text) {
  static const re2::RE2 pattern("#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})");
  return matches(text, pattern);
}
bool is_rgb_color(std::string_view text) {
  static const re2::RE2 pattern = [] {
    const std::string number = "\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";
    return "rgb\\(" + number + "," + number + "," + number + "\\)";
  }();
  return matches(text, pattern);
}
bool is_object_id(std::string_view text) {
  static const re2::RE2 pattern("[0-9a-fA-F]{24}");
  return matches(text, pattern);
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
  return known == nullptr || known->check(text);
}

}  // namespace backplane::schema
