#include "backplane/core/query.hpp"

#include <algorithm>

namespace backplane BACKPLANE_API {
namespace {

int hex_value(char letter) noexcept {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

// Returns the first escape that net/url refuses, truncated as EscapeError prints it; empty if all are valid.
std::string_view bad_escape(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || hex_value(text[i + 1]) < 0 || hex_value(text[i + 2]) < 0) return text.substr(i, 3);
    i += 2;
  }
  return {};
}

}  // namespace

std::string percent_decode(std::string_view text, bool plus_is_space, bool* ok) {
  if (ok != nullptr) *ok = true;
  const bool plain = text.find('%') == std::string_view::npos && (!plus_is_space || text.find('+') == std::string_view::npos);
  if (plain) return std::string(text);
  std::string out;
  out.reserve(text.size());
  bool good = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
    } else if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2])));
      i += 2;
    } else {
      good = good && text[i] != '%';
      out.push_back(text[i]);
    }
  }
  if (ok != nullptr) *ok = good;
  return out;
}

Result<Query> parse_query(std::string_view raw) {
  Query out;
  while (!raw.empty()) {
    const auto end = raw.find('&');
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(end == std::string_view::npos ? raw.size() : end + 1);
    if (pair.empty()) continue;
    if (pair.find(';') != std::string_view::npos) return bad_request("invalid semicolon separator in query");
    const auto equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    for (std::string_view part : {key, value}) {
      if (const auto bad = bad_escape(part); !bad.empty()) return bad_request("invalid URL escape " + quoted(bad));
    }
    out.emplace_back(percent_decode(key, true), percent_decode(value, true));
  }
  return out;
}

Query parse_query_leniently(std::string_view raw, Status& error) {
  auto whole = parse_query(raw);
  error = whole.ok() ? Status() : whole.status();
  if (whole.ok()) return std::move(*whole);
  Query out;
  while (!raw.empty()) {
    const auto end = raw.find('&');
    auto pair = parse_query(raw.substr(0, end));
    if (pair.ok()) out.insert(out.end(), pair->begin(), pair->end());
    raw.remove_prefix(end == std::string_view::npos ? raw.size() : end + 1);
  }
  return out;
}

std::string_view query_get(const Query& query, std::string_view key) noexcept {
  for (const auto& [name, value] : query) {
    if (name == key) return value;
  }
  return {};
}

bool query_has(const Query& query, std::string_view key) noexcept {
  return std::any_of(query.begin(), query.end(), [&](const auto& pair) { return pair.first == key; });
}

}  // namespace BACKPLANE_API
