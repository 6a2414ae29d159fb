#include "cel/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cel/library_values.hpp"
#include "cel/times.hpp"
#include "text/go_time.hpp"
#include "text/utf8.hpp"

namespace backplane::cel_detail {
namespace {

bool append_special(std::string& out, double value) {
  if (std::isnan(value)) {
    out.append("NaN");
  } else if (std::isinf(value)) {
    out.append(value < 0 ? "-Inf" : "+Inf");
  } else {
    return false;
  }
  return true;
}

}  // namespace

// From this exponent on, Go prints the exponent form.
constexpr int kWidest = 6;

void append_real(std::string& out, double value) {
  if (append_special(out, value)) return;
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t mark = scientific.find('e');
  const int exponent = std::atoi(scientific.data() + mark + 1);
  if (exponent < -4 || exponent >= kWidest) {
    out.append(scientific);
    return;
  }
  std::array<char, 64> plain{};
  const auto plain_end = std::to_chars(plain.data(), plain.data() + plain.size(), value, std::chars_format::fixed).ptr;
  out.append(plain.data(), plain_end);
}

void append_fixed(std::string& out, double value, int digits) {
  if (append_special(out, value)) return;
  std::string text(400 + static_cast<std::size_t>(digits), '\0');
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  out.append(text, 0, static_cast<std::size_t>(size));
}

void append_go_duration(std::string& out, std::int64_t nanoseconds) { out.append(schema::print_go_duration(nanoseconds)); }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const Rune rune = decode_rune(text.substr(at));
    const char c = text[at];
    char code[16];
    if (!rune.valid) {
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out.append(code);
    } else if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (rune.code < 0x20 || rune.code == 0x7F) {
      constexpr std::string_view kNamed = "\a\b\f\n\r\t\v", kLetters = "abfnrtv";
      const std::size_t named = kNamed.find(c);
      if (named != std::string_view::npos) {
        out.append({'\\', kLetters[named]});
      } else {
        std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(rune.code));
        out.append(code);
      }
    } else {
      out.append(text.substr(at, rune.size));
    }
    at += rune.size;
  }
  return out + "\"";
}

namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text, bool sign) {
  if (sign && !text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

}  // namespace

std::optional<std::int64_t> parse_int(std::string_view text) { return parse_whole<std::int64_t>(text, true); }
std::optional<std::uint64_t> parse_uint(std::string_view text) { return parse_whole<std::uint64_t>(text, false); }

std::optional<double> parse_real(std::string_view text) {
  const bool minus = text.starts_with('-');
  std::string_view rest = text;
  if (minus || text.starts_with('+')) rest.remove_prefix(1);
  const std::string small = lower(rest.substr(0, 9));
  if (small == "inf" || small == "infinity") return minus ? -INFINITY : INFINITY;
  if (small == "nan" && rest.size() == text.size()) return std::nan("");
  const bool hex = small.starts_with("0x");
  if (rest.empty() || (rest.front() != '.' && (rest.front() < '0' || rest.front() > '9'))) return std::nullopt;
  if (hex && small.find('p') == std::string::npos && lower(rest).find('p') == std::string::npos) return std::nullopt;
  const std::string_view digits = hex ? rest.substr(2) : rest;
  double out = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out, hex ? std::chars_format::hex : std::chars_format::general);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    out = std::strtod(std::string(rest).c_str(), nullptr);
    if (std::isinf(out)) return std::nullopt;
  }
  return minus ? -out : out;
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const Rune rune = decode_rune(text);
    if (!rune.valid) return false;
    text.remove_prefix(rune.size);
  }
  return true;
}

// ---- conversions

namespace {

std::string_view name_of(ValKind kind) noexcept {
  Val sample;
  sample.kind = kind;
  return type_name(sample);
}

Val cannot(Arena& arena, const Val& value, ValKind to) {
  return error_val(arena, "type conversion error from '" + std::string(type_name(value)) + "' to '" + std::string(name_of(to)) + "'");
}

Val timestamp_of(const Instant& time) {
  if (time.seconds < kFirstSecond || time.seconds > kLastSecond) return error_val("timestamp overflow");
  return timestamp_val(time.seconds, time.nanos, time.zone);
}

Val from_string(Arena& arena, const Val& value, ValKind to) {
  const std::string_view text = value.view();
  std::string ignored;
  if (to == ValKind::kInt) {
    if (const auto number = parse_int(text)) return int_val(*number);
  } else if (to == ValKind::kUint) {
    if (const auto number = parse_uint(text)) return uint_val(*number);
  } else if (to == ValKind::kDouble) {
    if (const auto number = parse_real(text)) return double_val(*number);
  } else if (to == ValKind::kBool) {
    if (const auto truth = parse_bool(text)) return bool_val(*truth);
  } else if (to == ValKind::kBytes) {
    return bytes_val(text);
  } else if (to == ValKind::kDuration) {
    if (const auto duration = schema::parse_go_duration(text, ignored)) return duration_val(*duration);
  } else if (to == ValKind::kTimestamp) {
    if (const auto time = parse_instant(text)) return timestamp_of(*time);
  }
  return cannot(arena, value, to);
}

Val from_double(Arena& arena, const Val& value, ValKind to) {
  const double real = value.real;
  if (to == ValKind::kInt) {
    if (std::isnan(real) || real <= -9223372036854775808.0 || real >= 9223372036854775808.0) return error_val("integer overflow");
    return int_val(static_cast<std::int64_t>(real));
  }
  if (to == ValKind::kUint) {
    if (std::isnan(real) || real < 0 || real >= 18446744073709551616.0) return error_val("unsigned integer overflow");
    return uint_val(static_cast<std::uint64_t>(real));
  }
  return cannot(arena, value, to);
}

Val from_int(Arena& arena, const Val& value, ValKind to) {
  if (to == ValKind::kUint)
    return value.integer < 0 ? error_val("unsigned integer overflow") : uint_val(static_cast<std::uint64_t>(value.integer));
  if (to == ValKind::kDouble) return double_val(static_cast<double>(value.integer));
  if (to == ValKind::kTimestamp) return timestamp_of({value.integer, 0, 0});
  return cannot(arena, value, to);
}

Val from_uint(Arena& arena, const Val& value, ValKind to) {
  if (to == ValKind::kInt)
    return value.natural > 9223372036854775807u ? error_val("integer overflow") : int_val(static_cast<std::int64_t>(value.natural));
  if (to == ValKind::kDouble) return double_val(static_cast<double>(value.natural));
  return cannot(arena, value, to);
}

}  // namespace

Val to_text_val(Arena& arena, const Val& value) {
  switch (value.kind) {
    case ValKind::kString:
      return value;
    case ValKind::kError:
    case ValKind::kType:
      return string_val(value.view());
    case ValKind::kNull:
      return string_val("null");
    case ValKind::kBool:
      return string_val(value.boolean ? "true" : "false");
    case ValKind::kInt:
      return kept_string(arena, std::to_string(value.integer));
    case ValKind::kUint:
      return kept_string(arena, std::to_string(value.natural));
    case ValKind::kDouble: {
      std::string text;
      append_real(text, value.real);
      return kept_string(arena, text);
    }
    case ValKind::kBytes:
      return is_utf8(value.view()) ? string_val(value.view()) : error_val("invalid UTF-8 in bytes, cannot convert to string");
    case ValKind::kDuration:
      return kept_string(arena, print_seconds(value.integer));
    case ValKind::kTimestamp:
      return kept_string(arena, print_instant({value.integer, value.size, value.zone}));
    case ValKind::kOpaque:
      if (value.opaque->kind == OpaqueKind::kIp) return kept_string(arena, ip_text(as<IpVal>(value)));
      if (value.opaque->kind == OpaqueKind::kCidr)
        return kept_string(arena, ip_text(as<CidrVal>(value).address) + "/" + std::to_string(as<CidrVal>(value).bits));
      return cannot(arena, value, ValKind::kString);
    default:
      return cannot(arena, value, ValKind::kString);
  }
}

Val convert(Arena& arena, const Val& value, ValKind to) {
  if (to == ValKind::kType) return type_val(type_name(value));
  if (value.kind == to) return value;
  if (to == ValKind::kString) return to_text_val(arena, value);
  switch (value.kind) {
    case ValKind::kString:
      return from_string(arena, value, to);
    case ValKind::kDouble:
      return from_double(arena, value, to);
    case ValKind::kInt:
      return from_int(arena, value, to);
    case ValKind::kUint:
      return from_uint(arena, value, to);
    case ValKind::kDuration:
    case ValKind::kTimestamp:
      return to == ValKind::kInt ? int_val(value.integer) : cannot(arena, value, to);
    default:
      return cannot(arena, value, to);
  }
}

}  // namespace backplane::cel_detail
