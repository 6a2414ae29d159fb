// Checks the name of the user that Windows containers run as: USER or DOMAIN\USER.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::size_t kMaxDomain = 255;
constexpr std::size_t kMaxUser = 104;
constexpr std::size_t kMaxNetBiosName = 15;
constexpr std::size_t kMaxLabel = 63;

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_netbios_name(std::string_view name) {
  const auto letters = static_cast<std::size_t>(std::count_if(name.begin(), name.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return letters >= 1 && letters <= kMaxNetBiosName && name.front() != '.' && name.find_first_of("\\/:*?\"<>|") == std::string_view::npos;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabel && is_alphanumeric(label.front()) && is_alphanumeric(label.back()) &&
         std::all_of(label.begin(), label.end(), [](char c) { return c == '-' || is_alphanumeric(c); });
}

bool is_dns_name(std::string_view name) {
  while (true) {
    const auto dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// Reports the errors of both parts.
template <class AddError>
void check_parts(std::string_view name, AddError add_error) {
  const auto backslash = name.find('\\');
  const bool has_domain = backslash != std::string_view::npos;
  const std::string_view domain = has_domain ? name.substr(0, backslash) : std::string_view();
  const std::string_view user = has_domain ? name.substr(backslash + 1) : name;
  if (domain.size() > kMaxDomain) add_error("'s Domain length must be under 256 characters");
  if (has_domain && !is_netbios_name(domain) && !is_dns_name(domain)) add_error("'s Domain doesn't match the NetBios nor the DNS format");
  if (user.empty()) add_error("'s User cannot be empty");
  if (user.size() > kMaxUser) add_error("'s User length must not be longer than 104 characters");
  if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos) add_error("'s User cannot contain only periods or spaces");
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos) {
    add_error(R"('s User cannot contain the following characters: "/\:;|=,+*?<>@[])");
  }
}

}  // namespace

void validate_windows_user(const Object& holder, const Path& path, FieldErrors& errors) {
  const Object& options = object_or_empty(object_or_empty(holder, "securityContext"), "windowsOptions");
  if (!has(options, "runAsUserName")) return;
  const std::string_view name = get_string(options, "runAsUserName");
  const Path security = path.at("securityContext"), windows = security.at("windowsOptions");
  const auto add_error = [&](std::string_view what) {
    errors.invalid_raw(windows.at("runAsUserName"), to_json(Value(name)), "runAsUserName" + std::string(what));
  };
  if (name.empty()) return add_error(" cannot be an empty string");
  if (has_control(name)) return add_error(" cannot contain control characters");
  if (std::count(name.begin(), name.end(), '\\') > 1) return add_error(" cannot contain more than one backslash");
  check_parts(name, add_error);
}

}  // namespace backplane::workload
