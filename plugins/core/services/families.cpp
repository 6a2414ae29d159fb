#include "services/families.hpp"

#include "backplane/core/json_access.hpp"
#include "services/spec.hpp"

namespace backplane::core {

namespace {

constexpr std::string_view kSingle = "SingleStack", kPrefer = "PreferDualStack", kRequire = "RequireDualStack";
const std::string kPolicyPath = "spec.ipFamilyPolicy";

std::vector<std::string> families_of(const Object& spec) { return texts_of(spec, "ipFamilies"); }
std::string_view policy_of(const Object& spec) { return get_string(spec, "ipFamilyPolicy"); }
std::string_view other_family(std::string_view family) { return family == "IPv4" ? "IPv6" : "IPv4"; }

void report_policy(const Object& spec, std::string_view why, FieldErrors& errors) {
  errors.invalid(kPolicyPath, policy_of(spec), std::string(why));
}

bool is_bare_headless(const Object& spec) {
  return get_string(spec, "clusterIP") == kHeadless && object_or_empty(spec, "selector").empty();
}

void default_policy(Object& spec, const Object* before) {
  if (has(spec, "ipFamilyPolicy")) return;
  if (before != nullptr && has(*before, "ipFamilyPolicy")) {
    take_member(spec, *before, "ipFamilyPolicy");
    return;
  }
  // Other clients create the endpoints of a headless service without a selector, so the endpoints may have addresses of any family.
  spec["ipFamilyPolicy"] = is_bare_headless(spec) ? kRequire : kSingle;
}

void keep_first(Object& spec, std::string_view key) {
  Value* list = find(spec, key);
  if (list != nullptr && list->is_array() && list->get_array().size() > 1) list->get_array().resize(1);
}

// Checks whether an update may change the second family as requested.
void check_change(Object& spec, const Object& before, FieldErrors& errors) {
  const auto ips = cluster_ips(spec), old_ips = cluster_ips(before), families = families_of(spec), old_families = families_of(before);
  if (policy_of(spec) == kSingle) {
    if (ips == old_ips) keep_first(spec, "clusterIPs");
    if (families == old_families) keep_first(spec, "ipFamilies");
    return;
  }
  if (!ips.empty() && ips.size() < old_ips.size()) report_policy(spec, "must be 'SingleStack' to release the secondary cluster IP", errors);
  if (!families.empty() && families.size() < old_families.size()) {
    report_policy(spec, "must be 'SingleStack' to release the secondary IP family", errors);
  }
}

void check_policy(const Object& spec, FieldErrors& errors) {
  if (policy_of(spec) != kSingle) return;
  if (cluster_ips(spec).size() == 2) {
    report_policy(spec, "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified", errors);
  }
  if (families_of(spec).size() == 2) {
    report_policy(spec, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified", errors);
  }
}

void infer_from_addresses(Object& spec, const Addresses& cluster, FieldErrors& errors) {
  const auto ips = cluster_ips(spec);
  for (std::size_t i = 0; i < ips.size() && ips[i] != kHeadless; ++i) {
    if (i < families_of(spec).size()) continue;
    const std::string_view family = family_of(ips[i]);
    if (!cluster.has_family(family)) {
      errors.invalid_raw(at("spec.clusterIPs", i), to_json(*get_array(spec, "clusterIPs")),
                         std::string(family) + " is not configured on this cluster");
    } else {
      add_text(spec, "ipFamilies", family);
    }
  }
}

void check_cluster(const Object& spec, const Addresses& cluster, FieldErrors& errors) {
  if (policy_of(spec) == kRequire && cluster.families() < 2) {
    report_policy(spec, "this cluster is not configured for dual-stack services", errors);
  }
  const auto families = families_of(spec);
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (!cluster.has_family(families[i])) errors.invalid(at("spec.ipFamilies", i), families[i], "not configured on this cluster");
  }
}

}  // namespace

bool families_unchanged(const Object& spec, const Object* before) {
  if (before == nullptr || policy_of(spec) != kPrefer || !same_member(spec, *before, "type") || !needs_cluster_ip(spec)) return false;
  if (has(*before, "ipFamilyPolicy") && policy_of(*before) != kPrefer) return false;
  return cluster_ips(spec) == cluster_ips(*before) && families_of(spec) == families_of(*before);
}

void init_families(Object& spec, const Object* before, const Addresses& cluster, FieldErrors& errors) {
  if (get_string(spec, "type") == "ExternalName" || families_unchanged(spec, before)) return;
  default_policy(spec, before);
  validate_cluster_ips(spec, errors);
  if (!errors.empty()) return;
  if (before != nullptr) check_change(spec, *before, errors);
  check_policy(spec, errors);
  infer_from_addresses(spec, cluster, errors);
  if (!errors.empty()) return;

  const bool bare = is_bare_headless(spec);
  if (!bare) check_cluster(spec, cluster, errors);
  if (!errors.empty()) return;
  if (families_of(spec).empty()) add_text(spec, "ipFamilies", cluster.default_family());
  const auto families = families_of(spec);
  const bool second = policy_of(spec) != kSingle && families.size() == 1 && (bare || cluster.families() == 2);
  if (second) add_text(spec, "ipFamilies", other_family(families[0]));
}

}  // namespace backplane::core
