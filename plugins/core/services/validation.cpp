// Rules for services (pkg/apis/core/validation ValidateService).
#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "services/ranges.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

void check_families(const Object& spec, FieldErrors& errors) {
  std::set<std::string, std::less<>> seen;
  each_text(spec, "ipFamilies", [&](std::string_view family, std::size_t i) {
    if (family != "IPv4" && family != "IPv6") {
      errors.add({FieldErrorType::kNotSupported, at("spec.ipFamilies", i),
                  "Unsupported value: " + to_json(Value(family)) + R"(: supported values: "IPv4", "IPv6")"});
    }
    if (!seen.emplace(family).second) errors.duplicate(at("spec.ipFamilies", i), family);
  });
}

void check_families_of_ips(const Object& spec, const std::vector<std::string>& ips, FieldErrors& errors) {
  const auto families = texts_of(spec, "ipFamilies");
  for (std::size_t i = 0; i < ips.size() && i < families.size(); ++i) {
    if (families[i] == family_of(ips[i]) || (families[i] != "IPv4" && families[i] != "IPv6")) continue;
    errors.invalid(at("spec.clusterIPs", i), ips[i],
                   "expected an " + families[i] + " value as indicated by `ipFamilies[" + std::to_string(i) + "]`");
  }
}

void check_cluster_ips(const Object& spec, FieldErrors& errors) {
  const auto ips = cluster_ips(spec);
  const std::string_view first = get_string(spec, "clusterIP");
  if (get_string(spec, "type") == "ExternalName") return;
  check_families(spec, errors);
  if (ips.empty()) {
    if (!first.empty()) errors.required("spec.clusterIPs");
    return;
  }
  const auto printed = [&] { return to_json(*get_array(spec, "clusterIPs")); };
  if (first.empty()) {
    errors.invalid_raw("spec.clusterIPs", printed(), "must be empty when `clusterIP` is not specified");
  } else if (ips[0] != first) {
    errors.invalid_raw("spec.clusterIPs", printed(), "first value must match `clusterIP`");
  }
  bool good = true;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    if (i == 0 && ips[i] == kHeadless) {
      if (ips.size() > 1) errors.invalid_raw("spec.clusterIPs", printed(), "'None' must be the first and only value");
      good = good && ips.size() == 1;
      continue;
    }
    const auto problems = legacy_ip_problems(ips[i]);
    add_problems(problems, at("spec.clusterIPs", i), ips[i], errors);
    good = good && problems.empty();
  }
  if (ips.size() > 2) errors.invalid_raw("spec.clusterIPs", printed(), "may only hold up to 2 values");
  if (!good || ips[0] == kHeadless) return;
  const auto fours = std::count_if(ips.begin(), ips.end(), [](const std::string& ip) { return family_of(ip) == "IPv4"; });
  if (ips.size() > 1 && (fours == 0 || fours == static_cast<std::ptrdiff_t>(ips.size()))) {
    errors.invalid_raw("spec.clusterIPs", printed(), "may specify no more than one IP for each IP family");
  }
  check_families_of_ips(spec, ips, errors);
}

// The first allocated address stays while the service has any; the second is removed only by a change of the policy.
void check_list_change(const Object& spec, const Object& before, std::string_view key, std::string_view item, FieldErrors& errors) {
  const auto now = texts_of(spec, key), old = texts_of(before, key);
  if (old.empty()) return;
  const std::string path = at("spec", key);
  const Value* list = find(spec, key);
  const std::string printed = list != nullptr ? to_json(*list) : "null";
  if (now.empty()) return errors.invalid_raw(at(path, std::size_t{0}), printed, "primary " + std::string(item) + " can not be unset");
  const std::size_t compared = now.size() == old.size() ? now.size() : 1;
  for (std::size_t i = 0; i < compared; ++i) {
    if (now[i] != old[i]) errors.invalid_raw(at(path, i), printed, "may not change once set");
  }
  if (now.size() < old.size() && now.size() == 1 && get_string(spec, "ipFamilyPolicy") != "SingleStack") {
    errors.invalid("spec.ipFamilyPolicy", get_string(spec, "ipFamilyPolicy"),
                   "must be set to 'SingleStack' when releasing the secondary " + std::string(item));
  }
}

// Returns true if each item is an address or "None". Another check reports the other items.
bool all_addresses(const std::vector<std::string>& ips) {
  return std::all_of(ips.begin(), ips.end(), [](const std::string& ip) { return ip == kHeadless || is_valid_ip(ip).empty(); });
}

}  // namespace

void validate_cluster_ips(const Object& spec, FieldErrors& errors) {
  check_one_of(spec, "ipFamilyPolicy", "spec", {"PreferDualStack", "RequireDualStack", "SingleStack"}, errors);
  check_cluster_ips(spec, errors);
}

void validate_service_spec(const Object& spec, FieldErrors& errors) { check_cluster_ips(spec, errors); }

void validate_source_ranges(const Object& service, const Object* old, FieldErrors& errors) {
  constexpr std::string_view kAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
  const auto ranges_of = [&](const Object& object) {
    return find(object_or_empty(object_or_empty(object, "metadata"), "annotations"), kAnnotation);
  };
  const Object& spec = object_or_empty(service, "spec");
  const Array* ranges = get_array(spec, "loadBalancerSourceRanges");
  const Value* value = ranges_of(service);
  if (value == nullptr || (ranges != nullptr && !ranges->empty())) return;
  const std::string path = "metadata.annotations[" + std::string(kAnnotation) + "]";
  if (get_string(spec, "type") != "LoadBalancer") errors.forbidden(path, "may only be used when `type` is 'LoadBalancer'");
  const Value* before = old != nullptr ? ranges_of(*old) : nullptr;
  if (before != nullptr && *before == *value) return;
  const auto trimmed = [](std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n\v\f"), last = text.find_last_not_of(" \t\r\n\v\f");
    return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
  };
  std::string_view rest = trimmed(text_of(*value));
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view range = trimmed(rest.substr(0, comma));
    add_problems(legacy_cidr_problems(range), path, range, errors);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
}

void validate_service_change(const Object& spec, const Object& before, FieldErrors& errors) {
  if (!needs_cluster_ip(spec) || !needs_cluster_ip(before) || (is_headless(spec) && is_headless(before))) return;
  if (all_addresses(cluster_ips(spec))) check_list_change(spec, before, "clusterIPs", "clusterIP", errors);
  check_list_change(spec, before, "ipFamilies", "ipFamily", errors);
}

}  // namespace backplane::core
