#include "tracing/trace_context.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace backplane::tracing {
namespace {

constexpr std::size_t kMostStateMembers = 32;
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool between(char letter, char first, char last) { return letter >= first && letter <= last; }

// Removes `out.size()` bytes in lower-case hexadecimal, and the '-' after them, from the front of `text`. False: `text` does not begin so.
template <std::size_t N>
bool take_hex(std::string_view& text, std::array<std::uint8_t, N>& out) {
  if (text.size() < 2 * N) return false;
  for (std::size_t i = 0; i < 2 * N; ++i) {
    const std::size_t digit = kHexDigits.find(text[i]);
    if (digit == std::string_view::npos) return false;
    out[i / 2] = static_cast<std::uint8_t>(out[i / 2] << 4U | digit);
  }
  text.remove_prefix(2 * N);
  if (text.empty()) return true;
  if (text.front() != '-') return false;
  text.remove_prefix(1);
  return true;
}

template <std::size_t N>
void append_hex(std::string& out, const std::array<std::uint8_t, N>& bytes) {
  for (const std::uint8_t byte : bytes) {
    out.push_back(kHexDigits[byte >> 4U]);
    out.push_back(kHexDigits[byte & 15U]);
  }
}

template <std::size_t N>
bool all_zero(const std::array<std::uint8_t, N>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool is_key_letter(char letter) {
  return between(letter, 'a', 'z') || between(letter, '0', '9') || letter == '_' || letter == '-' || letter == '*' || letter == '/';
}

// True for a valid part of a tracestate key ("vendor" or "tenant@vendor") of at most `most` characters. The vendor begins with a letter;
// the tenant may begin with a digit (`digit_first`).
bool is_key_part(std::string_view part, std::size_t most, bool digit_first) {
  if (part.empty() || part.size() > most) return false;
  if (!between(part.front(), 'a', 'z') && !(digit_first && between(part.front(), '0', '9'))) return false;
  return std::all_of(part.begin(), part.end(), is_key_letter);
}

bool is_state_key(std::string_view key) {
  const std::size_t at = key.find('@');
  if (at == std::string_view::npos) return is_key_part(key, 256, false);
  return is_key_part(key.substr(0, at), 241, true) && is_key_part(key.substr(at + 1), 14, false);
}

bool is_state_value(std::string_view value) {
  if (value.empty() || value.size() > 256 || value.back() == ' ') return false;
  return std::all_of(value.begin(), value.end(), [](char letter) { return between(letter, ' ', '~') && letter != ',' && letter != '='; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The members of tracestate, without white space between them; empty if a member is invalid.
std::string read_state(std::string_view text) {
  std::string out;
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view member = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos) return {};
    const std::string_view key = member.substr(0, equals);
    if (!is_state_key(key) || !is_state_value(member.substr(equals + 1))) return {};
    if (keys.size() == kMostStateMembers || std::find(keys.begin(), keys.end(), key) != keys.end()) return {};
    keys.push_back(key);
    out.append(out.empty() ? "" : ",").append(member);
  }
  return out;
}

std::uint64_t random_bits() {
  thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return engine();
}

template <std::size_t N>
std::array<std::uint8_t, N> random_bytes() {
  std::array<std::uint8_t, N> out{};
  while (all_zero(out)) {
    for (std::size_t i = 0; i < N; i += sizeof(std::uint64_t)) {
      const std::uint64_t bits = random_bits();
      for (std::size_t j = 0; j < sizeof bits; ++j) out[i + j] = static_cast<std::uint8_t>(bits >> (8 * j));
    }
  }
  return out;
}

}  // namespace

bool is_valid(const SpanContext& context) noexcept { return !all_zero(context.trace) && !all_zero(context.span); }

std::optional<SpanContext> parse_trace_headers(std::string_view traceparent, std::string_view tracestate) {
  constexpr std::uint8_t kLastVersion = 254, kMostFlags = 2;
  std::array<std::uint8_t, 1> version{}, flags{};
  SpanContext context;
  if (!take_hex(traceparent, version) || version[0] > kLastVersion) return std::nullopt;
  if (!take_hex(traceparent, context.trace) || !take_hex(traceparent, context.span)) return std::nullopt;
  if (!take_hex(traceparent, flags)) return std::nullopt;
  // Later versions may have further fields and flags; version 0 must not.
  if (version[0] == 0 && (!traceparent.empty() || flags[0] > kMostFlags)) return std::nullopt;
  if (!is_valid(context)) return std::nullopt;
  context.sampled = (flags[0] & 1U) != 0;
  context.state = read_state(tracestate);
  return context;
}

std::string to_traceparent(const SpanContext& context) {
  std::string out = "00-";
  append_hex(out, context.trace);
  out.push_back('-');
  append_hex(out, context.span);
  return out.append(context.sampled ? "-01" : "-00");
}

TraceId new_trace_id() { return random_bytes<16>(); }
SpanKey new_span_key() { return random_bytes<8>(); }

RatioSampler::RatioSampler(double ratio) noexcept {
  constexpr std::uint64_t kAll = std::uint64_t{1} << 63U;
  if (ratio >= 1) {
    limit_ = kAll;
  } else {
    limit_ = ratio > 0 ? static_cast<std::uint64_t>(ratio * static_cast<double>(kAll)) : 0;
  }
}

bool RatioSampler::samples(const TraceId& trace) const noexcept {
  std::uint64_t low = 0;
  for (std::size_t i = 8; i < trace.size(); ++i) low = low << 8U | trace[i];
  return low >> 1U < limit_;
}

}  // namespace backplane::tracing
