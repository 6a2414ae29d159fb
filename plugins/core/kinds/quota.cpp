// LimitRanges and ResourceQuotas.
#include <algorithm>
#include <array>
#include <map>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/resources.hpp"
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

void copy_missing(Object& target, const Object& source) {
  for (const auto& entry : Object(source)) {
    if (!target.contains(entry.key())) target[entry.key()] = entry.value();
  }
}

class LimitRangeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override { null_when_empty(ensure_object(object, "spec"), "limits"); }
  void apply_defaults(Object& object) const override {
    each_mutable(ensure_object(object, "spec"), "limits", [](Object& item) {
      for (std::string_view list : kLimits) {
        if (Object* found = mutable_object(item, list)) round_resource_list(*found);
      }
      if (get_string(item, "type") != "Container") return;
      copy_missing(ensure_object(item, "default"), object_or_empty(item, "max"));
      Object& request = ensure_object(item, "defaultRequest");
      copy_missing(request, object_or_empty(item, "default"));
      copy_missing(request, object_or_empty(item, "min"));
    });
  }

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
    if (is_qualified_name(type).empty() && type.find('/') == std::string_view::npos && !counts_containers && !claim) {
      errors.invalid(at(path, "type"), type, "must be a standard limit type or fully qualified");
    }
    for (std::string_view list : kLimits) {
      for (const auto& entry : object_or_empty(item, list)) {
        check_name(entry.key(), counts_containers, at_key(at(path, list), entry.key()), errors);
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

  static void check_name(std::string_view name, bool of_container, const std::string& path, FieldErrors& errors) {
    validate_resource_name(name, path, errors);
    if (!of_container || name.find('/') != std::string_view::npos || !is_qualified_name(name).empty()) return;
    if (!is_standard_container_resource(name)) errors.invalid(path, name, "must be a standard resource for containers");
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

class ResourceQuotaStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override {
    if (Object* hard = mutable_object(ensure_object(object, "spec"), "hard")) round_resource_list(*hard);
  }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    std::vector<std::string> out;
    const Object& hard = object_or_empty(object_or_empty(object, "spec"), "hard");
    for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
      std::string request_name = "requests." + name;
      const std::string limit_name = "limits." + name;
      // "cpu" and "memory" alone are requests, too.
      if (!hard.contains(request_name) && (name == "cpu" || name == "memory")) request_name = name;
      const std::string request(get_string(hard, request_name)), limit(get_string(hard, limit_name));
      if (old != nullptr || request.empty() || limit.empty() || compare_quantities(request, limit) <= 0) continue;
      out.push_back("ResourceQuota " + request_name + " (" + request + ") should be less than " + limit_name + " (" + limit + ")");
    }
    return out;
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    for (const auto& entry : object_or_empty(spec, "hard")) {
      const std::string_view name = entry.key();
      const std::string path = at_key("spec.hard", name);
      validate_resource_name(name, path, errors);
      if (name.find('/') == std::string_view::npos && !is_standard_quota_resource(name)) {
        errors.invalid(path, name, "must be a standard resource for quota");
      }
    }
    const auto scopes = texts_of(spec, "scopes");
    if (!std::all_of(scopes.begin(), scopes.end(), is_scope)) {
      errors.invalid_raw("spec.scopes", to_json(*find(spec, "scopes")), "unsupported scope");
    }
  }

 private:
  static bool is_scope(const std::string& scope) {
    constexpr std::array<std::string_view, 7> kScopes = {"Terminating",          "NotTerminating", "BestEffort",
                                                         "NotBestEffort",        "PriorityClass",  "CrossNamespacePodAffinity",
                                                         "VolumeAttributesClass"};
    return std::find(kScopes.begin(), kScopes.end(), scope) != kScopes.end();
  }
};

}  // namespace

void add_limits_and_quotas(GroupCode& code) {
  code.kinds["LimitRange"] = {.make = made<LimitRangeStrategy>()};
  code.kinds["ResourceQuota"] = {.make = made<ResourceQuotaStrategy>()};
  code.printers.emplace("quota", print_quota);
}

}  // namespace backplane::core
