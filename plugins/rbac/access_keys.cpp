#include "access_keys.hpp"

#include <algorithm>

namespace backplane::rbac {
namespace {

constexpr AccessKey kUrlKey = 2;
// Represents the name if a rule has no resource names.
constexpr std::uint64_t kAnyName = 0;

std::uint64_t verb_hash(std::string_view text) noexcept { return seeded_hash(text, 0x9AE16A3B2F90404FULL); }
std::uint64_t group_hash(std::string_view text) noexcept { return seeded_hash(text, 0xC3A5C85C97CB3127ULL); }
std::uint64_t resource_hash(std::string_view text) noexcept { return seeded_hash(text, 0xB492B66FBE98F273ULL); }
std::uint64_t name_hash(std::string_view text) noexcept { return seeded_hash(text, 0x9FB21C651E98DF25ULL); }

AccessKey key_of(std::uint64_t verb, std::uint64_t group, std::uint64_t resource, std::uint64_t name) noexcept {
  return place_hash(place_hash(place_hash(verb, group), resource), name);
}

std::size_t count_keys(const PolicyRule& rule) noexcept {
  return rule.verbs.size() * rule.api_groups.size() * rule.resources.size() * std::max<std::size_t>(rule.resource_names.size(), 1);
}

void add_keys(const PolicyRule& rule, std::vector<AccessKey>& out) {
  if (!rule.urls.empty()) out.push_back(kUrlKey);
  for (const std::string& verb : rule.verbs) {
    for (const std::string& group : rule.api_groups) {
      for (const std::string& resource : rule.resources) {
        const auto add = [&](std::uint64_t name) {
          out.push_back(key_of(verb_hash(verb), group_hash(group), resource_hash(resource), name));
        };
        if (rule.resource_names.empty()) add(kAnyName);
        for (const std::string& name : rule.resource_names) add(name_hash(name));
      }
    }
  }
}

}  // namespace

std::vector<AccessKey> access_keys(const RoleRulesBox* rules) {
  std::vector<AccessKey> out;
  if (rules == nullptr) return {kAlwaysKey};
  for (const RuleMatcher& each : rules->rules) {
    if (out.size() + count_keys(each.rule()) > kMostAccessKeys) return {kAlwaysKey};
    add_keys(each.rule(), out);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

WantedKeys::WantedKeys(const WantedAccess& wanted) {
  keys_[count_++] = kAlwaysKey;
  if (!wanted.resource_request) {
    keys_[count_++] = kUrlKey;
    return;
  }
  std::string combined(wanted.resource);
  if (!wanted.subresource.empty()) combined.append("/").append(wanted.subresource);
  std::array<std::uint64_t, 3> resources{resource_hash(combined), resource_hash("*"), 0};
  std::size_t resource_count = 2;
  if (!wanted.subresource.empty()) resources[resource_count++] = resource_hash("*/" + std::string(wanted.subresource));
  for (const std::uint64_t verb : {verb_hash(wanted.verb), verb_hash("*")}) {
    for (const std::uint64_t group : {group_hash(wanted.group), group_hash("*")}) {
      for (std::size_t i = 0; i < resource_count; ++i) {
        for (const std::uint64_t name : {kAnyName, name_hash(wanted.name)}) keys_[count_++] = key_of(verb, group, resources[i], name);
      }
    }
  }
}

}  // namespace backplane::rbac
