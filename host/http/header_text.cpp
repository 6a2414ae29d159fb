#include "http/header_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace backplane {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

// Converts eight characters in each step, without a branch.
void lower_here(char* text, std::size_t size) noexcept {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= size; i += sizeof(std::uint64_t)) {
    std::uint64_t eight;
    std::memcpy(&eight, text + i, sizeof eight);
    // Sets the top bit of each ASCII byte from 'A' to 'Z'.
    const std::uint64_t seven = eight & kEach * 0x7f;
    const std::uint64_t capital = (seven + kEach * (0x80 - 'A')) & ~(seven + kEach * (0x7f - 'Z')) & ~eight & kEach * 0x80;
    eight |= capital >> 2;
    std::memcpy(text + i, &eight, sizeof eight);
  }
  for (; i < size; ++i) text[i] = lower(text[i]);
}

constexpr std::array<bool, 256> kTokenChars = [] {
  std::array<bool, 256> chars{};
  for (const char c : std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~")) {
    chars[static_cast<unsigned char>(c)] = true;
  }
  return chars;
}();
bool token_char(char c) noexcept { return kTokenChars[static_cast<unsigned char>(c)]; }

bool looks_canonical(std::string_view name) noexcept {
  bool start = true;
  for (const char c : name) {
    const bool wrong = start ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
    if (wrong || !token_char(c)) return false;
    start = c == '-';
  }
  return true;
}

// Returns true if a character is at most '\r', which few values have. Tests eight characters in each step.
bool may_break_lines(std::string_view value) noexcept {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= value.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t eight;
    std::memcpy(&eight, value.data() + i, sizeof eight);
    if (((eight - kEach * ('\r' + 1)) & ~eight & kEach * 0x80) != 0) return true;
  }
  return std::any_of(value.begin() + static_cast<std::ptrdiff_t>(i), value.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= '\r'; });
}

struct Phrase {
  int code;
  std::string_view text;
};
// net/http's reason phrases of the codes that an API server sends.
constexpr Phrase kPhrases[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Request Entity Too Large"},
    {414, "Request URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  // For speed: different names of equal length mostly differ in the first letter, and equal names mostly have the same case.
  if (a.size() != b.size() || (!a.empty() && lower(a.front()) != lower(b.front()))) return false;
  return a == b || std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

// A server sends the same few names repeatedly. `seen` caches canonical names, so that a name needs one comparison after its first use.
bool is_canonical_header_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  thread_local std::array<std::string, 64> seen;
  if (name.empty() || name.size() > kLongest) return looks_canonical(name);
  const auto letter = [name](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  std::string& place = seen[(name.size() * 7 + letter(name.size() - 1) * 3u + letter(name.size() / 2)) % seen.size()];
  if (place == name) return true;
  if (!looks_canonical(name)) return false;
  place = name;
  return true;
}

std::string canonical_header_name(std::string_view name) {
  std::string out(name);
  if (!std::all_of(out.begin(), out.end(), token_char)) return out;
  bool start = true;
  for (char& c : out) {
    c = start ? upper(c) : lower(c);
    start = c == '-';
  }
  return out;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  lower_here(out.data(), out.size());
  return out;
}

void append_lower_case(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  out += text;
  lower_here(out.data() + begin, text.size());
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view find_header(const Headers& headers, std::string_view name) noexcept {
  for (const auto& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return {};
}

bool header_has_token(const Headers& headers, std::string_view name, std::string_view token) noexcept {
  for (const auto& [key, value] : headers) {
    if (!equal_ignoring_case(key, name)) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      if (equal_ignoring_case(trimmed(rest.substr(0, comma)), token)) return true;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return false;
}

void strip_line_breaks(std::string& value) noexcept {
  if (!may_break_lines(value)) return;
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
}

std::string reason_phrase(int code) {
  const auto* found = std::find_if(std::begin(kPhrases), std::end(kPhrases), [code](const Phrase& p) { return p.code == code; });
  if (found != std::end(kPhrases)) return std::string(found->text);
  return "status code " + std::to_string(code);
}

std::string_view http_date() {
  thread_local std::time_t second = 0;
  thread_local std::array<char, 40> text{};
  thread_local std::size_t size = 0;
  const std::time_t now = std::time(nullptr);
  if (now != second) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    // The process uses the C locale, so the names of days and months are English.
    size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    second = now;
  }
  return {text.data(), size};
}

bool code_has_body(int code) noexcept { return code >= 200 && code != 204 && code != 304; }

}  // namespace backplane
