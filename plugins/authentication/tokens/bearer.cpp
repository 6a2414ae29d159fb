#include "tokens/bearer.hpp"

#include <algorithm>
#include <string_view>

#include "backplane/core/text.hpp"
#include "backplane/kit/base64url.hpp"

namespace backplane::authentication {
namespace {

constexpr std::string_view kBearerProtocol = "base64url.bearer.authorization.k8s.io.";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letters(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(), [](char a, char b) { return lower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Calls `visit` for each part of a comma-separated list.
template <class Visit>
void each_part(std::string_view list, Visit visit) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    visit(trimmed(list.substr(begin, end - begin)));
    begin = end + 1;
  }
}

bool is_websocket(const Exchange& exchange) {
  bool upgrade = false;
  each_part(exchange.header("connection"), [&](std::string_view option) { upgrade = upgrade || same_letters(option, "upgrade"); });
  return upgrade && same_letters(trimmed(exchange.header("upgrade")), "websocket");
}

// Returns true if the text consists of byte sequences that have the structure of UTF-8.
bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t size = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (size == 0 || i + size > text.size()) return false;
    for (std::size_t k = 1; k < size; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    i += size;
  }
  return true;
}

}  // namespace

HeaderToken header_token(const Exchange& exchange) { return token_in(exchange.header("authorization")); }

HeaderToken token_in(std::string_view authorization) {
  HeaderToken out;
  const std::string_view value = trimmed(authorization);
  const auto space = value.find(' ');
  if (space == std::string_view::npos || !same_letters(value.substr(0, space), "bearer")) return out;
  const std::string_view rest = value.substr(space + 1);
  out.token = rest.substr(0, rest.find(' '));
  out.extra_space = out.token.empty();
  return out;
}

Result<std::string> websocket_token(const Exchange& exchange) {
  if (!is_websocket(exchange)) return std::string();
  std::string token;
  Status error;
  bool found = false, others = false;
  const auto read = [&](std::string_view protocol) {
    if (!protocol.starts_with(kBearerProtocol)) {
      others = true;
      return;
    }
    if (found) error = unauthorized("multiple base64.bearer.authorization tokens specified");
    found = true;
    const auto decoded = kit::from_base64url(protocol.substr(kBearerProtocol.size()));
    if (!decoded && error.ok()) error = unauthorized("invalid base64.bearer.authorization token encoding");
    if (decoded && !is_utf8(*decoded) && error.ok()) error = unauthorized("invalid base64.bearer.authorization token");
    if (decoded) token = *decoded;
  };
  for (const auto& [name, value] : exchange.headers()) {
    if (same_letters(name, "sec-websocket-protocol")) each_part(value, read);
  }
  if (!error.ok()) return error;
  // The client must offer another subprotocol, because the response cannot select the one with the token.
  if (!token.empty() && !others) return unauthorized("missing additional subprotocol");
  return token;
}

}  // namespace backplane::authentication
