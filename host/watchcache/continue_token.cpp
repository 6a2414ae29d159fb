#include "watchcache/continue_token.hpp"

#include <array>
#include <cstdint>

#include "backplane/json.hpp"

namespace backplane {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kVersion = "meta.k8s.io/v1";

std::string base64url(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) out.push_back(kAlphabet[bits >> (count - 6) & 63]);
  }
  if (count > 0) out.push_back(kAlphabet[bits << (6 - count) & 63]);
  return out;
}

// The decoded bytes, or the offset of the byte that Go's decoder refuses.
std::string from_base64url(std::string_view text, std::optional<std::size_t>& bad_at) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = kAlphabet.find(text[i]);
    if (digit == std::string_view::npos) {
      bad_at = i;
      return {};
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count));
    }
  }
  if (text.size() % 4 == 1) bad_at = text.size();
  return out;
}

Status invalid(std::string_view why) { return bad_request("invalid continue token: continue key is not valid" + std::string(why)); }

// Go's path.Clean would leave "/" + `path` as it is: no empty, "." or ".." element, no slash at the end.
bool is_clean(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  for (;;) {
    const auto slash = path.find('/');
    const std::string_view element = path.substr(0, slash);
    if (element.empty() || element == "." || element == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string encode_continue(std::string_view start, std::string_view list_prefix, Revision revision) {
  std::string text = R"({"v":"meta.k8s.io/v1","rv":)" + std::to_string(revision) + R"(,"start":)";
  append_json_string(text, start.substr(list_prefix.size()));
  text.push_back('}');
  return base64url(text);
}

Result<ContinueToken> decode_continue(std::string_view token, std::string_view list_prefix) {
  std::optional<std::size_t> bad_at;
  const std::string text = from_base64url(token, bad_at);
  if (bad_at) return invalid(": illegal base64 data at input byte " + std::to_string(*bad_at));
  boost::system::error_code error;
  const Value value = json::parse(text, error);
  if (error || !value.is_object()) {
    return invalid(text.empty() ? ": unexpected end of JSON input"
                                : ": invalid character " + quoted(text.substr(0, 1)) + " looking for beginning of value");
  }
  const Object& object = value.get_object();
  if (const auto version = get_string(object, "v"); version != kVersion) {
    return invalid(": server does not recognize this encoded version " + std::string(version));
  }
  ContinueToken decoded;
  decoded.revision = get_int(object, "rv").value_or(0);
  const std::string start(get_string(object, "start"));
  if (decoded.revision == 0) return invalid(": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (start.empty()) return invalid(": encoded start key empty (version meta.k8s.io/v1)");
  if (!is_clean(start)) return invalid(": " + start);
  decoded.start = std::string(list_prefix) + (start.front() == '/' ? start.substr(1) : start);
  return decoded;
}

}  // namespace backplane
