#include "backplane/workload/resources.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"

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

void validate_amount(std::string_view name, const Value& amount, bool allow_parts_of_pages, const Path& path, FieldErrors& errors) {
  for (const std::string& problem : container_resource_name_problems(name)) errors.invalid_raw(path, to_json(Value(name)), problem);
  validate_quantity_not_negative(amount, path, errors);
  for (const std::string& problem : counted_quantity_problems(name, text_of(amount))) errors.invalid(path, text_of(amount), problem);
  if (allow_parts_of_pages) return;
  for (const std::string& problem : huge_page_problems(name, text_of(amount))) errors.invalid(path, text_of(amount), problem);
}

}  // namespace

void validate_requests(const Object& resources, const Path& path, FieldErrors& errors) {
  const Object& limits = object_or_empty(resources, "limits");
  const Object& requests = object_or_empty(resources, "requests");
  for (const auto& request : requests) validate_request(limits, request.key(), request.value(), path, errors);
  const auto any = [&](bool (*wanted)(std::string_view)) { return has_one(limits, wanted) || has_one(requests, wanted); };
  if (!any(is_processing) && any(is_huge_page)) errors.forbidden(path, "HugePages require cpu or memory");
}

std::optional<std::int64_t> whole_units(std::string_view quantity) {
  struct Unit {
    std::string_view suffix;
    std::int64_t factor;
    std::int64_t divisor;
  };
  constexpr std::int64_t kThousand = 1000;
  static constexpr std::array<Unit, 16> kUnits = {{{"", 1, 1},
                                                   {"Ki", std::int64_t{1} << 10, 1},
                                                   {"Mi", std::int64_t{1} << 20, 1},
                                                   {"Gi", std::int64_t{1} << 30, 1},
                                                   {"Ti", std::int64_t{1} << 40, 1},
                                                   {"Pi", std::int64_t{1} << 50, 1},
                                                   {"Ei", std::int64_t{1} << 60, 1},
                                                   {"n", 1, kThousand * kThousand * kThousand},
                                                   {"u", 1, kThousand * kThousand},
                                                   {"m", 1, kThousand},
                                                   {"k", kThousand, 1},
                                                   {"M", kThousand * kThousand, 1},
                                                   {"G", kThousand * kThousand * kThousand, 1},
                                                   {"T", kThousand * kThousand * kThousand * kThousand, 1},
                                                   {"P", kThousand * kThousand * kThousand * kThousand * kThousand, 1},
                                                   {"E", kThousand * kThousand * kThousand * kThousand * kThousand * kThousand, 1}}};
  std::int64_t number = 0, product = 0;
  const auto [end, wrong] = std::from_chars(quantity.data(), quantity.data() + quantity.size(), number);
  if (wrong != std::errc()) return std::nullopt;
  std::string_view suffix = quantity.substr(static_cast<std::size_t>(end - quantity.data()));
  const bool exponent = suffix.size() > 1 && (suffix.front() == 'e' || suffix.front() == 'E');
  if (exponent) {
    int zeros = 0;
    std::from_chars(suffix.data() + 1, suffix.data() + suffix.size(), zeros);
    for (; zeros > 0 && number != 0; --zeros) {
      if (__builtin_mul_overflow(number, std::int64_t{10}, &number)) return std::nullopt;
    }
    suffix = {};
  }
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& each) { return each.suffix == suffix; });
  if (unit == kUnits.end() || __builtin_mul_overflow(number, unit->factor, &product)) return std::nullopt;
  const std::int64_t rest = product % unit->divisor;
  return product / unit->divisor + (rest > 0 ? 1 : rest < 0 ? -1 : 0);
}

Problems huge_page_problems(std::string_view name, std::string_view quantity) {
  constexpr std::size_t kPrefix = std::string_view("hugepages-").size();
  if (!is_huge_page(name)) return {};
  const auto page = canonical_quantity(name.substr(kPrefix));
  const std::int64_t size = page && counted_quantity_problems("pods", *page).empty() ? whole_units(*page).value_or(0) : 0;
  const auto amount = whole_units(quantity);
  if (size > 0 && amount && *amount % size == 0) return {};
  return {std::string(quantity) + " is not positive integer multiple of " + std::string(name)};
}

bool has_parts_of_pages(const Object& resources) {
  for (std::string_view list : {"limits", "requests"}) {
    for (const auto& amount : object_or_empty(resources, list)) {
      if (!huge_page_problems(amount.key(), text_of(amount.value())).empty()) return true;
    }
  }
  return false;
}

void validate_resource_requirements(const Object& resources, const Path& path, FieldErrors& errors, bool allow_parts_of_pages) {
  for (std::string_view list : {"limits", "requests"}) {
    const Path list_path = path.at(list);
    for (const auto& amount : object_or_empty(resources, list)) {
      validate_amount(amount.key(), amount.value(), allow_parts_of_pages, list_path.at_key(amount.key()), errors);
    }
  }
  validate_requests(resources, path, errors);
}

}  // namespace backplane::workload
