#include "filters/credential_headers.hpp"

#include <algorithm>

#include "backplane/core/text.hpp"

namespace backplane {
namespace {

// `lower` must be lower-case.
bool starts_without_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(),
                    [](char wanted, char got) { return (got >= 'A' && got <= 'Z' ? static_cast<char>(got - 'A' + 'a') : got) == wanted; });
}

void add_lower(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& each : from) to.push_back(lower_case(each));
}

}  // namespace

CredentialHeaders::CredentialHeaders(const RequestHeaderConfig& config)
    : names_{"authorization", "x-remote-user", "x-remote-uid", "x-remote-group"}, prefixes_{"x-remote-extra-"} {
  if (config.enabled()) {
    for (const auto* list : {&config.username_headers, &config.uid_headers, &config.group_headers}) add_lower(*list, names_);
    add_lower(config.extra_prefixes, prefixes_);
  }
  // The flags usually repeat the default names. Duplicates are removed, because each name is compared with every header of every request.
  for (auto* list : {&names_, &prefixes_}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

bool CredentialHeaders::contains(std::string_view header) const noexcept {
  const auto named = [header](const std::string& name) { return name.size() == header.size() && starts_without_case(header, name); };
  const auto begins = [header](const std::string& prefix) { return starts_without_case(header, prefix); };
  return std::any_of(names_.begin(), names_.end(), named) || std::any_of(prefixes_.begin(), prefixes_.end(), begins);
}

}  // namespace backplane
