// The device claims of a pod, and its pod-level resources.
#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/resources.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

std::string joined_names(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

// Checks that a container uses a claim, or a request of a claim, only once.
void validate_used_once(const Object& use, const Path& path, std::set<std::string>& used, FieldErrors& errors) {
  const std::string name(get_string(use, "name"));
  if (used.contains(name)) {
    errors.duplicate(path, name);
    return;
  }
  const std::string_view request = get_string(use, "request");
  std::string key = name;
  if (!request.empty()) {
    add_problems(is_dns1123_label(request), path.at("request"), request, errors);
    key.append("/").append(request);
  }
  if (used.contains(key)) {
    errors.duplicate(path, key);
  } else if (request.empty()) {
    const std::string parts = name + "/";
    for (auto other = used.lower_bound(parts); other != used.end() && other->starts_with(parts); ++other) errors.duplicate(path, name);
  }
  used.insert(key);
}

constexpr std::array<std::string_view, 2> kLists = {"limits", "requests"};

void validate_pod_level_names(const Object& resources, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  for (std::string_view list : kLists) {
    const Path list_path = path.at(list);
    for (const auto& amount : object_or_empty(resources, list)) {
      const Path at = list_path.at_key(amount.key());
      const auto problems = resource_name_problems(amount.key());
      add_problems(problems, at, amount.key(), errors);
      if (problems.empty() && !is_pod_level(amount.key())) errors.not_supported(at, amount.key(), {"cpu", "hugepages-", "memory"});
      validate_quantity_not_negative(amount.value(), at, errors);
      add_problems(counted_quantity_problems(amount.key(), text_of(amount.value())), at, text_of(amount.value()), errors);
      if (!options.parts_of_pages) {
        add_problems(huge_page_problems(amount.key(), text_of(amount.value())), at, text_of(amount.value()), errors);
      }
    }
  }
}

// Checks that pod-level requests are at least the sum of the containers' requests. For limits, this applies only to huge pages.
void validate_sums(const Object& pod_spec, const Object& resources, const Path& path, FieldErrors& errors) {
  for (std::string_view list : {"requests", "limits"}) {
    const Object& whole = object_or_empty(resources, list);
    if (whole.empty()) continue;
    const Path list_path = path.at(list);
    for (const auto& sum : sum_of_containers(pod_spec, list)) {
      if (list == "limits" && !is_huge_page(sum.key())) continue;
      const Value* own = find(whole, sum.key());
      if (own == nullptr || compare_quantities(text_of(sum.value()), text_of(*own)) <= 0) continue;
      std::string detail = "must be greater than or equal to aggregate container ";
      detail.append(list).append(" of ").append(text_of(sum.value()));
      errors.invalid(list_path.at_key(sum.key()), text_of(*own), detail);
    }
  }
}

// Checks that no container's limit exceeds that of the pod.
void validate_container_limits(const Object& pod_spec, const Object& limits, const Path& path, FieldErrors& errors) {
  each(pod_spec, "containers", [&](const Object& container, std::size_t i) {
    for (const auto& limit : object_or_empty(object_or_empty(container, "resources"), "limits")) {
      const Value* most = find(limits, limit.key());
      if (most == nullptr || compare_quantities(text_of(limit.value()), text_of(*most)) <= 0) continue;
      const Path item = path.at("containers", i), key = item.at_key(limit.key());
      errors.invalid(key.at("limits"), text_of(limit.value()),
                     "must be less than or equal to pod limits of " + std::string(text_of(*most)));
    }
  });
}

}  // namespace

bool is_pod_level(std::string_view name) noexcept { return name == "cpu" || name == "memory" || is_huge_page(name); }

std::set<std::string> validate_resource_claims(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  std::set<std::string> known, seen;
  each(pod_spec, "resourceClaims", [&](const Object& claim, std::size_t i) {
    const Path item = path.at("resourceClaims", i);
    const std::string name(get_string(claim, "name"));
    if (name.empty()) {
      errors.required(item.at("name"));
    } else if (!seen.insert(name).second) {
      errors.duplicate(item.at("name"), name);
    } else {
      add_problems(is_dns1123_label(name), item.at("name"), name, errors);
    }
    if (!name.empty()) known.insert(name);
  });
  return known;
}

void validate_claims_used(const Object& resources, const Path& path, const std::set<std::string>& known, FieldErrors& errors) {
  std::set<std::string> used;
  std::string rest;  // equal in all errors
  each(resources, "claims", [&](const Object& use, std::size_t i) {
    const Path item = path.at("claims", i);
    const std::string name(get_string(use, "name"));
    if (name.empty()) {
      errors.required(item);
      return;
    }
    validate_used_once(use, item, used, errors);
    if (known.contains(name)) return;
    if (errors.left_out() > 0) {
      errors.not_found(item, name);  // counted only, because the list of errors is full
      return;
    }
    if (rest.empty()) rest = known.empty() ? " which is empty" : ": " + joined_names(known);
    errors.add(
        {FieldErrorType::kNotFound, item, "Not found: " + quoted(name) + ": must be one of the names in pod.spec.resourceClaims" + rest});
  });
}

void validate_pod_resources(const Object& pod_spec, const Path& path, const std::set<std::string>& claims,
                            const PodValidationOptions& options, FieldErrors& errors) {
  const Object* resources = get_object(pod_spec, "resources");
  if (resources == nullptr) return;
  const Path at = path.at("resources");
  if (get_string(object_or_empty(pod_spec, "os"), "name") == "windows") {
    errors.forbidden(at, "may not be set for a windows pod");
    return;
  }
  if (get_array(*resources, "claims") != nullptr) errors.forbidden(at.at("claims"), "claims may not be set for Resources at pod-level");
  validate_pod_level_names(*resources, at, options, errors);
  validate_requests(*resources, at, errors);
  validate_claims_used(*resources, at, claims, errors);
  validate_sums(pod_spec, *resources, at, errors);
  validate_container_limits(pod_spec, object_or_empty(*resources, "limits"), at, errors);
}

}  // namespace backplane::workload
