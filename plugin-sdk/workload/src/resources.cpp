#include "backplane/workload/resources.hpp"

#include <algorithm>

#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

// Names without a domain that may be counted, and where.
struct StandardResource {
  std::string_view name;
  bool quota = true;
  bool container = false;
};
constexpr StandardResource kStandardResources[] = {
    {"cpu", true, true},
    {"memory", true, true},
    {"ephemeral-storage", true, true},
    {"storage", false},
    {"requests.cpu"},
    {"requests.memory"},
    {"requests.storage"},
    {"requests.ephemeral-storage"},
    {"limits.cpu"},
    {"limits.memory"},
    {"limits.ephemeral-storage"},
    {"pods"},
    {"resourcequotas"},
    {"services"},
    {"services.nodeports"},
    {"services.loadbalancers"},
    {"replicationcontrollers"},
    {"secrets"},
    {"configmaps"},
    {"persistentvolumeclaims"},
};

const StandardResource* standard_resource(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kStandardResources), std::end(kStandardResources),
                                   [&](const StandardResource& row) { return row.name == name; });
  return found == std::end(kStandardResources) ? nullptr : found;
}

bool is_quota_huge_page(std::string_view name) noexcept { return is_huge_page(name) || name.starts_with("requests.hugepages-"); }

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

// The number without its last `drop` digits, one further away from zero; of as many digits as there are.
std::string next_whole(std::string_view number, std::size_t drop) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  std::string digits(number.substr(0, number.size() - std::min(drop, number.size())));
  std::size_t at = digits.size();
  while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
  if (at > 0) {
    ++digits[at - 1];
  } else {
    digits.insert(digits.begin(), '1');
  }
  return (negative ? "-" : "") + digits;
}

}  // namespace

bool is_huge_page(std::string_view name) noexcept { return name.starts_with("hugepages-"); }
bool is_native_resource(std::string_view name) noexcept {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}
bool is_standard_container_resource(std::string_view name) noexcept {
  const StandardResource* row = standard_resource(name);
  return is_huge_page(name) || (row != nullptr && row->container);
}
bool is_standard_quota_resource(std::string_view name) noexcept {
  const StandardResource* row = standard_resource(name);
  return is_quota_huge_page(name) || (row != nullptr && row->quota);
}

void round_resource_list(Object& list) {
  for (auto& entry : list) {
    const std::string_view text = text_of(entry.value());
    // Only texts with micro or nano parts can be finer than a thousandth once canonical.
    if (text.empty() || (text.back() != 'u' && text.back() != 'n')) continue;
    const auto digits = text.substr(0, text.size() - 1);
    const std::size_t drop = text.back() == 'u' ? 3 : 6;
    if (auto rounded = canonical_quantity(next_whole(digits, drop) + "m")) entry.value() = *rounded;
  }
}

void validate_resource_name(std::string_view name, const std::string& path, FieldErrors& errors) {
  const std::size_t before = errors.size();
  for (const std::string& problem : is_qualified_name(name)) errors.invalid(path, name, problem);
  if (errors.size() != before || name.find('/') != std::string_view::npos) return;
  if (standard_resource(name) == nullptr && !is_quota_huge_page(name)) {
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
