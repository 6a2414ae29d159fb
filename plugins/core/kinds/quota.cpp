// LimitRanges and ResourceQuotas.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/resource_names.hpp"
#include "backplane/types/schema.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

// A canonical quantity as a number, for ratios.
double amount_of(std::string_view quantity) {
  constexpr std::array<std::pair<std::string_view, double>, 15> kUnits = {{{"n", 1e-9},
                                                                           {"u", 1e-6},
                                                                           {"m", 1e-3},
                                                                           {"k", 1e3},
                                                                           {"M", 1e6},
                                                                           {"G", 1e9},
                                                                           {"T", 1e12},
                                                                           {"P", 1e15},
                                                                           {"E", 1e18},
                                                                           {"Ki", 0x1p10},
                                                                           {"Mi", 0x1p20},
                                                                           {"Gi", 0x1p30},
                                                                           {"Ti", 0x1p40},
                                                                           {"Pi", 0x1p50},
                                                                           {"Ei", 0x1p60}}};
  const std::string text(quantity);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end(), [end](const auto& row) { return row.first == end; });
  return unit == kUnits.end() ? number : number * unit->second;
}

std::string six_digits(double number) {
  std::array<char, 352> text{};
  const int size = std::snprintf(text.data(), text.size(), "%f", number);
  return std::isinf(number) ? "+Inf" : std::isnan(number) ? "NaN" : std::string(text.data(), static_cast<std::size_t>(size));
}

// Ratios are computed in thousandths if all amounts are small enough, otherwise in whole units; both are rounded up.
constexpr double kMostMilli = 9223372036854775.0;
double wholes(std::string_view quantity) { return std::ceil(amount_of(quantity) - 1e-9) + 0.0; }  // -0.0 is 0
double millis(std::string_view quantity) { return std::ceil(amount_of(quantity) * 1000 - 1e-9) + 0.0; }

// The maximum ratio of a limit to a request.
void check_ratios(const Object& limit, const Path& path, FieldErrors& errors) {
  const Path ratios = path.at("maxLimitRequestRatio");
  const Object& min = object_or_empty(limit, "min");
  const Object& max = object_or_empty(limit, "max");
  for (const auto& entry : object_or_empty(limit, "maxLimitRequestRatio")) {
    const std::string ratio(text_of(entry.value()));
    const Path at = ratios.at_key(entry.key());
    if (compare_quantities(ratio, "1") < 0) errors.invalid(at, ratio, "ratio " + ratio + " is less than 1");
    const Value* low = find(min, entry.key());
    const Value* high = find(max, entry.key());
    if (low == nullptr || high == nullptr) continue;
    const bool small = wholes(ratio) < kMostMilli && wholes(text_of(*low)) < kMostMilli && wholes(text_of(*high)) < kMostMilli;
    const double most = small ? millis(text_of(*high)) / millis(text_of(*low)) : wholes(text_of(*high)) / wholes(text_of(*low));
    if ((small ? millis(ratio) / 1000 : wholes(ratio)) > most)
      errors.invalid(at, ratio, "ratio " + ratio + " is greater than max/min = " + six_digits(most));
  }
}

// Two lists of a limit; no amount of the first list may exceed that of the second one.
struct Order {
  std::string_view low, high, blamed, shown;
  std::string_view before, between;  // the text around the two amounts
};
constexpr std::array<Order, 5> kOrders = {
    {{"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value ", " is greater than default request value "},
     {"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value ", " is greater than max value "},
     {"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value ", " is greater than default limit value "},
     {"min", "default", "default", "min", "min value ", " is greater than default value "},
     {"default", "max", "default", "max", "default value ", " is greater than max value "}}};

// Skips limits of type Pod: they must not have defaults, which the schema reports.
void check_default_orders(const Object& limit, const Path& path, FieldErrors& errors) {
  if (get_string(limit, "type") == "Pod") return;
  for (const Order& order : kOrders) {
    const Path list = path.at(order.blamed);
    for (const auto& entry : object_or_empty(limit, order.low)) {
      const Value* high = find(object_or_empty(limit, order.high), entry.key());
      if (high == nullptr || compare_quantities(text_of(entry.value()), text_of(*high)) <= 0) continue;
      const std::string least(text_of(entry.value())), most(text_of(*high));
      errors.invalid(list.at_key(entry.key()), order.shown == order.low ? least : most,
                     std::string(order.before) + least + std::string(order.between) + most);
    }
  }
}

// For a resource that cannot be overcommitted, the default request must equal the default limit.
void check_same_defaults(const Object& limit, const Path& path, FieldErrors& errors) {
  if (get_string(limit, "type") == "Pod") return;  // pods have no defaults: another check reports it
  const Path requests = path.at("defaultRequest");
  for (const auto& entry : object_or_empty(limit, "defaultRequest")) {
    const Value* whole = find(object_or_empty(limit, "default"), entry.key());
    if (whole == nullptr || (is_native_resource(entry.key()) && !is_huge_page(entry.key()))) continue;
    const std::string most(text_of(*whole)), asked(text_of(entry.value()));
    if (compare_quantities(most, asked) == 0) continue;
    errors.invalid(requests.at_key(entry.key()), asked,
                   "default value " + most + " must equal to defaultRequest value " + asked + " in " + std::string(entry.key()));
  }
}

class LimitRangeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override { null_when_empty(ensure_object(object, "spec"), "limits"); }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Path path("spec");
    each(object_or_empty(object, "spec"), "limits", [&](const Object& limit, std::size_t i) {
      const Path item = path.at("limits", i);
      const bool bounded = has(object_or_empty(limit, "min"), "storage") || has(object_or_empty(limit, "max"), "storage");
      if (get_string(limit, "type") == "PersistentVolumeClaim" && !bounded) {
        errors.required(item.at("limits"), "either minimum or maximum storage value is required, but neither was provided");
      }
      check_ratios(limit, item, errors);
      check_default_orders(limit, item, errors);
      check_same_defaults(limit, item, errors);
    });
  }
  // Items without a name get one.
  void prepare_create(Object& object) const override {
    if (meta_name(object).empty()) ObjectMeta(object).set("name", new_uid());
  }
};

// Returns true if the scope can count the resource `name`, and for unknown scopes, which the schema reports.
bool counts(std::string_view scope, std::string_view name) {
  static const std::set<std::string, std::less<>> kComputing = {"cpu",           "memory",       "limits.cpu",
                                                                "limits.memory", "requests.cpu", "requests.memory"};
  if (scope == "BestEffort") return name == "pods";
  if (scope == "VolumeAttributesClass") return name == "persistentvolumeclaims" || name == "requests.storage";
  static const std::set<std::string, std::less<>> kOfPods = {"Terminating", "NotTerminating", "NotBestEffort", "PriorityClass",
                                                             "CrossNamespacePodAffinity"};
  return !kOfPods.contains(scope) || name == "pods" || kComputing.contains(name);
}

std::size_t count_unfit(const Object& spec, const std::string& scope) {
  const Object& hard = object_or_empty(spec, "hard");
  return static_cast<std::size_t>(std::count_if(
      hard.begin(), hard.end(), [&](const auto& entry) { return is_standard_quota_resource(entry.key()) && !counts(scope, entry.key()); }));
}

// `shown`: the value that is quoted for a scope that does not fit a resource; `listed`: the value for scopes that contradict each other.
void check_scopes(const Object& spec, const std::vector<std::string>& scopes, const Path& path, const std::string& shown,
                  const std::string& listed, FieldErrors& errors) {
  // Both lists may be long, and each error quotes the whole list, so their number is limited.
  std::map<std::string_view, std::size_t> unfit;  // number of resources that the scope does not apply to
  for (const std::string& scope : scopes) {
    const auto [found, fresh] = unfit.try_emplace(scope, 0);
    if (fresh && !counts(scope, {})) found->second = count_unfit(spec, scope);
    for (std::size_t i = 0; i < found->second && errors.left_out() == 0; ++i) {
      errors.invalid_raw(path, shown, "unsupported scope applied to resource");
    }
  }
  const auto has_scope = [&](std::string_view name) { return std::find(scopes.begin(), scopes.end(), name) != scopes.end(); };
  for (const auto& [one, other] : {std::pair{"BestEffort", "NotBestEffort"}, std::pair{"Terminating", "NotTerminating"}}) {
    if (has_scope(one) && has_scope(other)) errors.invalid_raw(path, listed, "conflicting scopes");
  }
}

class ResourceQuotaStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Path path("spec");
    const Array* scopes = get_array(spec, "scopes");
    const std::string listed = scopes != nullptr ? to_json(*scopes) : "null";
    const std::vector<std::string> names = texts_of(spec, "scopes");
    check_scopes(spec, names, path.at("scopes"), listed, listed, errors);
    const Object* selector = get_object(spec, "scopeSelector");
    if (selector == nullptr) return;
    std::vector<std::string> selected;
    each(*selector, "matchExpressions",
         [&](const Object& each_one, std::size_t) { selected.emplace_back(get_string(each_one, "scopeName")); });
    const Schema* type = core_schemas()->find("io.k8s.api.core.v1.ScopeSelector");
    const Path selector_path = path.at("scopeSelector");
    check_scopes(spec, selected, selector_path.at("matchExpressions"), to_json(type->go_struct(*selector)), listed, errors);
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

// Warns if a request in `spec.hard` exceeds the limit of the same resource.
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
  code.kinds["ResourceQuota"] = {.make = made<ResourceQuotaStrategy>()};
  code.printers.emplace("quota", print_quota);
  code.warnings.emplace("quotaOrder", warn_of_order);
}

}  // namespace backplane::core
