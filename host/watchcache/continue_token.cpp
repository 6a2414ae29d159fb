#include "watchcache/continue_token.hpp"

#include <algorithm>
#include <cstdint>

#include "backplane/core/json.hpp"
#include "backplane/types/schema.hpp"

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

// The decoded bytes. Sets `bad_at` to the offset of the byte that Go's decoder would refuse.
std::string from_base64url(std::string_view text, std::optional<std::size_t>& bad_at) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    ++digits;
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
  if (digits % 4 == 1) bad_at = text.size() - 1;  // a single digit is not a byte
  return out;
}

Status invalid(std::string_view why) { return bad_request("invalid continue token: continue key is not valid" + std::string(why)); }

// True if Go's path.Clean would not change "/" + `path`: it has no empty, "." or ".." element, and no slash at the end.
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

// The members of Go's storage.continueToken.
struct TokenFields {
  std::string version;
  std::int64_t revision = 0;
  std::string start;
};

std::string_view json_word(const Value& value) noexcept {
  if (value.is_number()) return "number";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  return value.is_array() ? "array" : "object";
}

std::string field_problem(const Value& value, std::string_view field, std::string_view type) {
  std::string out = "json: cannot unmarshal ";
  out.append(json_word(value));
  if (value.is_number() && type == "int64") out.append(" ").append(to_json(value));
  return out.append(" into Go struct field continueToken.").append(field).append(" of type ").append(type);
}

// Go matches member names case-insensitively.
bool is_named(std::string_view key, std::string_view name) noexcept {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::equal(key.begin(), key.end(), name.begin(), name.end(), same);
}

std::string take_text(const Value& value, std::string_view field, std::string& out) {
  if (value.is_null()) return {};
  if (!value.is_string()) return field_problem(value, field, "string");
  out = std::string_view(value.get_string());
  return {};
}

// Reads the members of the token. Returns an empty text, or the error of Go's encoding/json: the first problem in the token.
std::string read_fields(const Value& tree, TokenFields& fields) {
  if (tree.is_null()) return {};
  if (!tree.is_object()) {
    return std::string("json: cannot unmarshal ").append(json_word(tree)).append(" into Go value of type storage.continueToken");
  }
  std::string first;
  for (const auto& member : tree.get_object()) {
    const std::string_view key = member.key();
    const Value& value = member.value();
    std::string problem;
    if (is_named(key, "v")) problem = take_text(value, "v", fields.version);
    if (is_named(key, "start")) problem = take_text(value, "start", fields.start);
    if (is_named(key, "rv") && !value.is_null()) {
      if (value.is_int64()) {
        fields.revision = value.get_int64();
      } else {
        problem = field_problem(value, "rv", "int64");
      }
    }
    if (first.empty()) first = std::move(problem);
  }
  return first;
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
  auto tree = parse_json(text, {}, nullptr);
  if (!tree.ok()) return invalid(": " + tree.status().message());
  TokenFields fields;
  if (const std::string problem = read_fields(*tree, fields); !problem.empty()) return invalid(": " + problem);
  if (fields.version != kVersion) return invalid(": server does not recognize this encoded version " + fields.version);
  ContinueToken decoded;
  decoded.revision = fields.revision;
  const std::string& start = fields.start;
  if (decoded.revision == 0) return invalid(": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (start.empty()) return invalid(": encoded start key empty (version meta.k8s.io/v1)");
  if (!is_clean(start)) return invalid(": " + start);
  decoded.start = std::string(list_prefix) + (start.front() == '/' ? start.substr(1) : start);
  return decoded;
}

}  // namespace backplane
