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
