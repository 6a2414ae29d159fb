#include "backplane/workload/resources.hpp"

#include <algorithm>
#include <array>

#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::array<std::string_view, 27> kStandardResources = {"cpu",
                                                                 "memory",
                                                                 "ephemeral-storage",
                                                                 "requests.cpu",
                                                                 "requests.memory",
                                                                 "requests.ephemeral-storage",
                                                                 "limits.cpu",
                                                                 "limits.memory",
                                                                 "limits.ephemeral-storage",
                                                                 "pods",
                                                                 "resourcequotas",
                                                                 "services",
                                                                 "replicationcontrollers",
                                                                 "secrets",
                                                                 "configmaps",
                                                                 "persistentvolumeclaims",
                                                                 "storage",
                                                                 "requests.storage",
                                                                 "services.nodeports",
                                                                 "services.loadbalancers",
                                                                 "requests.hugepages-",
                                                                 "hugepages-",
                                                                 "count/pods",
                                                                 "count/services",
                                                                 "count/configmaps",
                                                                 "count/secrets",
                                                                 "requests.hugepages"};

void validate_container_resource_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  validate_resource_name(name, path, errors);
  if (name.find('/') != std::string_view::npos || is_standard_container_resource(name) || !is_qualified_name(name).empty()) return;
  errors.invalid(path, name, "must be a standard resource for containers");
}

bool may_overcommit(std::string_view name) noexcept { return is_native_resource(name) && !is_huge_page(name); }

void validate_request(const Object& limits, std::string_view name, const Value& request, const std::string& resources,
                      FieldErrors& errors) {
  const std::string path = at(resources, "requests"), limits_path = at(resources, "limits");
  const Value* limit = find(limits, name);
  if (limit == nullptr) {
    if (!may_overcommit(name)) errors.required(limits_path, "Limit must be set for non overcommitable resources");
    return;
  }
  const int order = compare_quantities(text_of(request), text_of(*limit));
  if (order != 0 && !may_overcommit(name)) {
    errors.invalid(path, text_of(request), "must be equal to " + std::string(name) + " limit of " + std::string(text_of(*limit)));
  } else if (order > 0) {
    errors.invalid(path, text_of(request),
                   "must be less than or equal to " + std::string(name) + " limit of " + std::string(text_of(*limit)));
  }
}

}  // namespace

bool is_huge_page(std::string_view name) noexcept { return name.starts_with("hugepages-"); }
bool is_native_resource(std::string_view name) noexcept {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}
bool is_standard_container_resource(std::string_view name) noexcept {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge_page(name);
}

void round_resource_list(Object& list) {
  for (auto& entry : list) {
    const std::string_view text = text_of(entry.value());
    // Only texts with micro or nano parts can be finer than a thousandth once canonical.
    if (text.empty() || (text.back() != 'u' && text.back() != 'n')) continue;
    const auto digits = text.substr(0, text.size() - 1);
    const std::size_t drop = text.back() == 'u' ? 3 : 6;
    std::string whole(digits.size() > drop ? digits.substr(0, digits.size() - drop) : std::string_view("0"));
    std::int64_t value = 0;
    for (char digit : whole) {
      if (digit >= '0' && digit <= '9') value = value * 10 + (digit - '0');
    }
    if (auto rounded = canonical_quantity(std::to_string(value + 1) + "m")) entry.value() = *rounded;
  }
}

void validate_resource_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  const std::size_t before = errors.size();
  for (const std::string& problem : is_qualified_name(name)) errors.invalid(path, name, problem);
  if (errors.size() != before || name.find('/') != std::string_view::npos) return;
  const bool standard = std::find(kStandardResources.begin(), kStandardResources.end(), name) != kStandardResources.end();
  if (!standard && !is_huge_page(name) && !name.starts_with("requests.hugepages-")) {
    errors.invalid(path, name, "must be a standard resource type or fully qualified");
  }
}

void validate_quantity_not_negative(const Value& quantity, const std::string& path, FieldErrors& errors) {
  if (compare_quantities(text_of(quantity), "0") < 0) errors.invalid(path, text_of(quantity), "must be greater than or equal to 0");
}

void validate_resource_requirements(const Object& resources, const std::string& path, FieldErrors& errors) {
  const Object& limits = object_or_empty(resources, "limits");
  const Object& requests = object_or_empty(resources, "requests");
  for (const auto& limit : limits) {
    const std::string field = at_key(at(path, "limits"), limit.key());
    validate_container_resource_name(limit.key(), field, errors);
    validate_quantity_not_negative(limit.value(), field, errors);
  }
  for (const auto& request : requests) {
    const std::string field = at_key(at(path, "requests"), request.key());
    validate_container_resource_name(request.key(), field, errors);
    validate_quantity_not_negative(request.value(), field, errors);
    validate_request(limits, request.key(), request.value(), path, errors);
  }
}

}  // namespace backplane::workload
