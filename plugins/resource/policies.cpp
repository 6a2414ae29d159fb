#include "policies.hpp"

#include <set>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "names.hpp"

namespace backplane::resource {
namespace {

using namespace kit;

constexpr std::size_t kMaxValues = 10;

void check_values(std::string_view normal, std::string_view most, const std::vector<std::string>& values, const Path& path,
                  FieldErrors& errors) {
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    if (compare_quantities(values[i], values[i + 1]) > 0)
      errors.invalid(path.at(i + 1), values[i + 1], "values must be sorted in ascending order");
  }
  bool found = false;
  if (values.size() > kMaxValues) {
    errors.too_many(path, static_cast<long long>(values.size()), kMaxValues);
  } else {
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (compare_quantities(values[i], most) > 0) {
        errors.invalid(path.at(i), values[i], "option is larger than capacity value: " + std::string(most));
      }
      found = found || compare_quantities(values[i], normal) == 0;
      const std::int64_t whole = whole_quantity(values[i]).value_or(0);
      if (!seen.insert(whole).second) errors.duplicate(path.at(i), std::to_string(whole));
    }
  }
  if (!found) errors.invalid(path, normal, "default value is not valid according to the requestPolicy");
}

void check_step(std::string_view value, std::string_view least, std::string_view step, const Path& path, FieldErrors& errors) {
  const auto whole = whole_quantity(value), from = whole_quantity(least), by = whole_quantity(step);
  if (!whole || !from || !by || (*by != 0 && (*whole - *from) % *by == 0)) return;
  errors.invalid(path, value, "value is not a multiple of a given step (" + std::string(step) + ") from (" + std::string(least) + ")");
}

void check_steps(std::string_view normal, std::string_view most, const Object& range, const Path& path, FieldErrors& errors) {
  const std::string_view least = get_string(range, "min"), step = get_string(range, "step");
  const auto from = whole_quantity(least), by = whole_quantity(step);
  const std::string first = from && by ? quantity_like(*from + *by, least) : std::string(most);
  const Path at = path.at("step");
  if (compare_quantities(first, most) > 0) {
    errors.invalid(at, step, "one step " + first + " is larger than capacity value: " + std::string(most));
  }
  check_step(normal, least, step, at, errors);
  if (has(range, "max")) check_step(get_string(range, "max"), least, step, at, errors);
}

void check_range(std::string_view normal, std::string_view most, const Object& range, const Path& path, FieldErrors& errors) {
  if (!has(range, "min")) return errors.required(path.at("min"), "required when validRange is defined");
  const std::string least(get_string(range, "min")), end(get_string(range, "max")), capacity(most);
  const auto refuse = [&](bool wrong, std::string_view member, std::string_view value, const std::string& text) {
    if (wrong) errors.invalid(path.at(member), value, text);
  };
  refuse(compare_quantities(least, most) > 0, "min", least, "min is larger than capacity value: " + capacity);
  refuse(compare_quantities(normal, least) < 0, "min", normal, "default is less than min: " + least);
  if (has(range, "max")) {
    refuse(compare_quantities(least, end) > 0, "max", least, "min is larger than max: " + end);
    refuse(compare_quantities(end, most) > 0, "max", end, "max is larger than capacity value: " + capacity);
    refuse(compare_quantities(normal, end) > 0, "max", normal, "default is more than max: " + end);
  }
  if (has(range, "step")) check_steps(normal, most, range, path, errors);
}

}  // namespace

void check_capacity(const Object& capacity, bool shared, const Path& path, FieldErrors& errors) {
  const Object* policy = get_object(capacity, "requestPolicy");
  if (policy == nullptr) return;
  const Path at = path.at("requestPolicy");
  if (!shared) return errors.forbidden(at, "allowMultipleAllocations must be true");
  const std::vector<std::string> values = texts_of(*policy, "validValues");
  const Object* range = get_object(*policy, "validRange");
  if (!values.empty() && range != nullptr) {
    return errors.forbidden(at, R"(exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time)");
  }
  const std::string_view most = get_string(capacity, "value"), normal = get_string(*policy, "default");
  if (values.empty() && range == nullptr) return;
  if (!has(*policy, "default")) {
    return errors.required(at.at("default"),
                           values.empty() ? "required when validRange is defined" : "required when validValues is defined");
  }
  if (!values.empty()) return check_values(normal, most, values, at.at("validValues"), errors);
  check_range(normal, most, *range, at.at("validRange"), errors);
}

}  // namespace backplane::resource
