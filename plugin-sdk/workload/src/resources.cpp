#include "backplane/workload/resources.hpp"

#include <algorithm>

#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

bool may_overcommit(std::string_view name) noexcept { return is_native_resource(name) && !is_huge_page(name); }

void validate_request(const Object& limits, std::string_view name, const Value& request, const Path& resources, FieldErrors& errors) {
  const Path path = resources.at("requests"), limits_path = resources.at("limits");
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

void validate_resource_name(std::string_view name, const Path& path, FieldErrors& errors) {
  for (const std::string& problem : resource_name_problems(name)) errors.invalid(path, name, problem);
}

void validate_quantity_not_negative(const Value& quantity, const Path& path, FieldErrors& errors) {
  if (compare_quantities(text_of(quantity), "0") < 0) errors.invalid(path, text_of(quantity), "must be greater than or equal to 0");
}

namespace {

void validate_amount(std::string_view name, const Value& amount, const Path& path, FieldErrors& errors) {
  for (const std::string& problem : container_resource_name_problems(name)) errors.invalid(path, name, problem);
  validate_quantity_not_negative(amount, path, errors);
}

}  // namespace

void validate_resource_requirements(const Object& resources, const Path& path, FieldErrors& errors) {
  const Object& limits = object_or_empty(resources, "limits");
  const Path limits_path = path.at("limits"), requests_path = path.at("requests");
  for (const auto& limit : limits) validate_amount(limit.key(), limit.value(), limits_path.at_key(limit.key()), errors);
  for (const auto& request : object_or_empty(resources, "requests")) {
    validate_amount(request.key(), request.value(), requests_path.at_key(request.key()), errors);
    validate_request(limits, request.key(), request.value(), path, errors);
  }
}

}  // namespace backplane::workload
