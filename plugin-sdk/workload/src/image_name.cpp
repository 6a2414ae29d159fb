// Parses image references: [domain[:port]/]path[:tag][@digest].
#include "backplane/workload/image_name.hpp"

#include <algorithm>

namespace backplane::workload {
namespace {

constexpr std::string_view kDefaultDomain = "docker.io";
constexpr std::size_t kMaxPath = 255, kMaxTag = 128, kIdentifier = 64;

bool is_lower_or_digit(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool has_upper(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Calls `good` for each part between separators. Returns false as soon as `good` returns false.
template <class Good>
bool every_part(std::string_view text, char separator, Good good) {
  while (true) {
    const auto end = text.find(separator);
    if (!good(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

// True for letters and digits with separators between them: one dot, one or two underscores, or any number of dashes.
bool is_path_component(std::string_view text) {
  if (text.empty() || !is_lower_or_digit(text.front()) || !is_lower_or_digit(text.back())) return false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_lower_or_digit(text[i])) {
      ++i;
      continue;
    }
    const auto end = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), is_lower_or_digit) - text.begin();
    const std::string_view between = text.substr(i, static_cast<std::size_t>(end) - i);
    const bool dashes = between.find_first_not_of('-') == std::string_view::npos;
    if (!dashes && between != "." && between != "_" && between != "__") return false;
    i = static_cast<std::size_t>(end);
  }
  return true;
}

bool is_domain_component(std::string_view text) {
  if (text.empty() || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

bool is_domain(std::string_view text) {
  const bool bracket = text.starts_with('[');
  const auto colon = bracket ? text.find(':', std::min(text.find(']'), text.size())) : text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || !std::all_of(port.begin(), port.end(), is_digit)) return false;
    text = text.substr(0, colon);
  }
  if (!bracket) return every_part(text, '.', is_domain_component);
  if (text.size() < 3 || text.back() != ']') return false;
  return std::all_of(text.begin() + 1, text.end() - 1, [](char c) { return is_hex(c) || c == ':'; });
}

bool is_tag(std::string_view text) {
  if (text.empty() || text.size() > kMaxTag || !is_word(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool is_digest(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view algorithm = text.substr(0, colon);
  const std::size_t wanted = algorithm == "sha256" ? 64 : algorithm == "sha384" ? 96 : algorithm == "sha512" ? 128 : 0;
  if (wanted == 0 || text.size() != colon + 1 + wanted) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1, text.end(),
                     [](char c) { return is_hex(c) && !(c >= 'A' && c <= 'F'); });
}

struct Split {
  std::string domain;
  std::string rest;
};

// Splits a name into domain and path. A familiar name has no domain: "nginx" is docker.io/library/nginx.
Split split_domain(std::string_view image) {
  const auto slash = image.find('/');
  if (slash == std::string_view::npos) return {std::string(kDefaultDomain), "library/" + std::string(image)};
  const std::string_view first = image.substr(0, slash), rest = image.substr(slash + 1);
  Split out{std::string(first), std::string(rest)};
  if (first == "index.docker.io") {
    out.domain = kDefaultDomain;
  } else if (first != "localhost" && first.find_first_of(".:") == std::string_view::npos && !has_upper(first)) {
    out = {std::string(kDefaultDomain), std::string(image)};
  }
  if (out.domain == kDefaultDomain && out.rest.find('/') == std::string::npos) out.rest = "library/" + out.rest;
  return out;
}

}  // namespace

std::optional<std::string> image_tag(std::string_view image) {
  // A name of 64 hexadecimal digits is an image id, which cannot be pulled.
  const bool hex = std::all_of(image.begin(), image.end(), [](char c) { return is_hex(c) && !(c >= 'A' && c <= 'F'); });
  if (image.size() == kIdentifier && hex) return std::nullopt;
  const Split split = split_domain(image);
  std::string_view rest = split.rest, digest, tag;
  if (const auto sign = rest.find('@'); sign != std::string_view::npos) {
    digest = rest.substr(sign + 1);
    rest = rest.substr(0, sign);
    if (!is_digest(digest)) return std::nullopt;
  }
  if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!is_tag(tag)) return std::nullopt;
  }
  if (rest.size() > kMaxPath || !is_domain(split.domain) || !every_part(rest, '/', is_path_component)) return std::nullopt;
  if (tag.empty() && digest.empty()) return "latest";
  return std::string(tag);
}

}  // namespace backplane::workload
