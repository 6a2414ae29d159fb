#include "filters/impersonation_headers.hpp"

#include <map>

#include "backplane/core/query.hpp"
#include "backplane/core/text.hpp"

namespace backplane {
namespace {

constexpr std::string_view kUser = "impersonate-user";
constexpr std::string_view kUid = "impersonate-uid";
constexpr std::string_view kGroup = "impersonate-group";
constexpr std::string_view kExtraPrefix = "impersonate-extra-";

// If a key is not valid percent-encoding, it is used unchanged.
std::string extra_key(std::string_view header) {
  bool valid = true;
  std::string key = percent_decode(header.substr(kExtraPrefix.size()), false, &valid);
  return valid ? key : std::string(header.substr(kExtraPrefix.size()));
}

// Prints a slice of strings like Go's %#v.
std::string go_list(const std::vector<std::string>& texts) {
  std::string out = "[]string{";
  for (std::size_t i = 0; i < texts.size(); ++i) out.append(i == 0 ? "" : ", ").append(backplane::quoted(texts[i]));
  return out + "}";
}

// Prints the user like Go's %#v.
Status without_name(const UserInfo& wanted) {
  std::string extra;
  for (const auto& [key, values] : wanted.extra) {
    extra.append(extra.empty() ? "" : ", ").append(backplane::quoted(key)).append(":").append(go_list(values));
  }
  return bad_request("requested &user.DefaultInfo{Name:\"\", UID:" + backplane::quoted(wanted.uid) +
                     ", Groups:" + (wanted.groups.empty() ? "[]string(nil)" : go_list(wanted.groups)) + ", Extra:map[string][]string" +
                     (extra.empty() ? "(nil)" : "{" + extra + "}") + "} without impersonating a user name");
}

// Prints the requested attributes like Go's %v prints the object references of upstream's former filter.
Status without_user(const UserInfo& wanted) {
  std::string list;
  const auto add = [&list](const std::string& reference) { list.append(list.empty() ? "{" : " {").append(reference).append("}"); };
  for (const std::string& group : wanted.groups) add("Group  " + group + "    ");
  for (const auto& [key, values] : wanted.extra) {
    for (const std::string& value : values) add("UserExtra  " + value + "  authentication.k8s.io/v1  " + key);
  }
  if (!wanted.uid.empty()) add("UID  " + wanted.uid + "  authentication.k8s.io/v1  ");
  return bad_request("requested [" + list + "] without impersonating a user");
}

}  // namespace

bool is_impersonation_header(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "impersonate-";
  if (name.size() < kUid.size() || (name.front() != 'I' && name.front() != 'i')) return false;
  const std::string lower = lower_case(name);
  return lower.starts_with(kPrefix) && (lower == kUser || lower == kUid || lower == kGroup || lower.starts_with(kExtraPrefix));
}

Result<std::optional<UserInfo>> wanted_user(const Exchange& exchange, bool constrained) {
  UserInfo wanted;
  wanted.name = exchange.header(kUser);
  wanted.uid = exchange.header(kUid);
  std::map<std::string, std::vector<std::string>> extra;
  for (const auto& [header, value] : exchange.headers()) {
    const std::string name = lower_case(header);
    if (name == kGroup) wanted.groups.push_back(value);
    if (name.starts_with(kExtraPrefix)) extra[extra_key(name)].push_back(value);
  }
  wanted.extra.assign(extra.begin(), extra.end());
  if (!wanted.name.empty()) return std::optional<UserInfo>(std::move(wanted));
  if (wanted.uid.empty() && wanted.groups.empty() && wanted.extra.empty()) return std::optional<UserInfo>();
  return constrained ? without_name(wanted) : without_user(wanted);
}

}  // namespace backplane
