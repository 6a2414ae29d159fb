#include "backplane/workload/resources.hpp"

#include <algorithm>
#include <array>

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

bool is_processing(std::string_view name) { return name == "cpu" || name == "memory"; }
bool has_one(const Object& amounts, bool (*wanted)(std::string_view)) {
  for (const auto& amount : amounts) {
    if (wanted(amount.key())) return true;
  }
  return false;
}

void validate_amount(std::string_view name, const Value& amount, const Path& path, FieldErrors& errors) {
  for (const std::string& problem : container_resource_name_problems(name)) errors.invalid(path, name, problem);
  validate_quantity_not_negative(amount, path, errors);
  for (const std::string& problem : counted_quantity_problems(name, text_of(amount))) errors.invalid(path, text_of(amount), problem);
}

}  // namespace

void validate_requests(const Object& resources, const Path& path, FieldErrors& errors) {
  const Object& limits = object_or_empty(resources, "limits");
  const Object& requests = object_or_empty(resources, "requests");
  for (const auto& request : requests) validate_request(limits, request.key(), request.value(), path, errors);
  const auto any = [&](bool (*wanted)(std::string_view)) { return has_one(limits, wanted) || has_one(requests, wanted); };
  if (!any(is_processing) && any(is_huge_page)) errors.forbidden(path, "HugePages require cpu or memory");
}

void validate_resource_requirements(const Object& resources, const Path& path, FieldErrors& errors) {
  for (std::string_view list : {"limits", "requests"}) {
    const Path list_path = path.at(list);
    for (const auto& amount : object_or_empty(resources, list)) {
      validate_amount(amount.key(), amount.value(), list_path.at_key(amount.key()), errors);
    }
  }
  validate_requests(resources, path, errors);
}

}  // namespace backplane::workload
