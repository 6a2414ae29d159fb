// LimitRanges and ResourceQuotas.
#include <algorithm>
#include <map>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/resource_names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::string_view kLimits[] = {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"};

// Two amounts that must be in order; of a pair that is not one is blamed, and one is shown.
struct Order {
  std::string_view low, low_name, high, high_name;
  bool blames_high, shows_high;
};
constexpr Order kOrders[] = {
    {"min", "min", "max", "max", false, false},
    {"min", "min", "defaultRequest", "default request", true, true},
    {"defaultRequest", "default request", "max", "max", false, false},
    {"min", "min", "default", "default", true, true},
    {"default", "default", "max", "max", false, true},
    {"defaultRequest", "default request", "default", "default limit", false, false},
};

class LimitRangeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override { null_when_empty(ensure_object(object, "spec"), "limits"); }

 protected:
  // Nameless ones are given a name of their own.
  void prepare_create(Object& object) const override {
    if (meta_name(object).empty()) ObjectMeta(object).set("name", new_uid());
  }
  void check(const Object& object, FieldErrors& errors) const override {
    each(object_or_empty(object, "spec"), "limits",
         [&](const Object& item, std::size_t i) { check_item(item, get_string(item, "type"), at("spec.limits", i), errors); });
  }

 private:
  static void check_item(const Object& item, std::string_view type, const std::string& path, FieldErrors& errors) {
    const bool counts_containers = type == "Pod" || type == "Container", claim = type == "PersistentVolumeClaim";
    const auto name_problems = counts_containers ? container_resource_name_problems : resource_name_problems;
    if (is_qualified_name(type).empty() && type.find('/') == std::string_view::npos && !counts_containers && !claim) {
      errors.invalid(at(path, "type"), type, "must be a standard limit type or fully qualified");
    }
    for (std::string_view list : kLimits) {
      for (const auto& entry : object_or_empty(item, list)) {
        add_problems(name_problems(entry.key()), at_key(at(path, list), entry.key()), entry.key(), errors);
      }
    }
    for (const Order& order : kOrders) check_order(item, order, path, errors);
    if (claim && find_path(item, {"min", "storage"}) == nullptr && find_path(item, {"max", "storage"}) == nullptr) {
      errors.required(path, "either minimum or maximum storage value is required, but neither was provided");
    }
  }

  // "min value 100m is greater than default request value 0".
  static void check_order(const Object& item, const Order& order, const std::string& path, FieldErrors& errors) {
    for (const auto& entry : object_or_empty(item, order.low)) {
      const Value* limit = find(object_or_empty(item, order.high), entry.key());
      if (limit == nullptr || compare_quantities(text_of(entry.value()), text_of(*limit)) <= 0) continue;
      const std::string low(text_of(entry.value())), high(text_of(*limit));
      errors.invalid(at_key(at(path, order.blames_high ? order.high : order.low), entry.key()), order.shows_high ? high : low,
                     std::string(order.low_name) + " value " + low + " is greater than " + std::string(order.high_name) + " value " + high);
    }
  }
};

void print_quota(const Object& object, std::int64_t, Array& cells) {
  const Object& status = object_or_empty(object, "status");
  std::map<std::string, std::string> amounts;
  for (const auto& entry : object_or_empty(status, "hard")) amounts[entry.key()] = text_of(entry.value());
  std::vector<std::string> requests, limits;
  for (const auto& [name, hard] : amounts) {
    const Value* used = find(object_or_empty(status, "used"), name);
    (name.starts_with("limits") ? limits : requests).push_back(name + ": " + std::string(used ? text_of(*used) : "0") + "/" + hard);
  }
  cells.emplace_back(joined(requests, ", "));
  cells.emplace_back(joined(limits, ", "));
}

// Of `spec.hard`: more is asked for than may be used.
void warn_of_order(const Value& value, const std::string&, std::vector<std::string>& warnings) {
  const Object& hard = value.get_object();
  for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
    std::string request_name = "requests." + name;
    const std::string limit_name = "limits." + name;
    // "cpu" and "memory" alone are requests, too.
    if (!hard.contains(request_name) && (name == "cpu" || name == "memory")) request_name = name;
    const std::string request(get_string(hard, request_name)), limit(get_string(hard, limit_name));
    if (request.empty() || limit.empty() || compare_quantities(request, limit) <= 0) continue;
    warnings.push_back("ResourceQuota " + request_name + " (" + request + ") should be less than " + limit_name + " (" + limit + ")");
  }
}

}  // namespace

void add_limits_and_quotas(GroupCode& code) {
  code.kinds["LimitRange"] = {.make = made<LimitRangeStrategy>()};
  code.printers.emplace("quota", print_quota);
  code.warnings.emplace("quotaOrder", warn_of_order);
}

}  // namespace backplane::core
