#include <charconv>
#include <optional>

#include "backplane/core/meta.hpp"

namespace backplane BACKPLANE_API {
namespace {

// The parts of a version such as "v1beta2".
struct ParsedVersion {
  int stage = 0;  // 2: GA, 1: beta, 0: alpha
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
};

bool take_number(std::string_view& text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::optional<ParsedVersion> parse_version(std::string_view text) {
  ParsedVersion version;
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  if (!take_number(text, version.major)) return std::nullopt;
  if (text.empty()) {
    version.stage = 2;
    return version;
  }
  if (text.starts_with("alpha")) {
    text.remove_prefix(5);
  } else if (text.starts_with("beta")) {
    version.stage = 1;
    text.remove_prefix(4);
  } else {
    return std::nullopt;
  }
  if (!take_number(text, version.minor) || !text.empty()) return std::nullopt;
  return version;
}

}  // namespace

bool version_precedes(std::string_view a, std::string_view b) {
  const auto left = parse_version(a);
  const auto right = parse_version(b);
  if (left.has_value() != right.has_value()) return left.has_value();
  if (!left) return a < b;
  if (left->stage != right->stage) return left->stage > right->stage;
  if (left->major != right->major) return left->major > right->major;
  return left->minor > right->minor;
}

}  // namespace BACKPLANE_API
