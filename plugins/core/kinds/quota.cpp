// LimitRanges and ResourceQuotas.
#include <algorithm>

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

void copy_missing(Object& target, const Object& source) {
  const Object copy(source);
  for (const auto& entry : copy) {
    if (!target.contains(entry.key())) target[entry.key()] = entry.value();
  }
}

class LimitRangeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override { null_when_empty(ensure_object(object, "spec"), "limits"); }
  void apply_defaults(Object& object) const override {
    each_mutable(ensure_object(object, "spec"), "limits", [](Object& item) {
      for (std::string_view list : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
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
    each(object_or_empty(object, "spec"), "limits", [&](const Object& item, std::size_t i) {
      const std::string path = at("spec.limits", i);
      const std::string type(get_string(item, "type"));
      check_type(type, at(path, "type"), errors);
      check_bounds(item, type, path, errors);
    });
  }

 private:
  static void check_type(const std::string& type, const std::string& path, FieldErrors& errors) {
    const bool standard = type == "Pod" || type == "Container" || type == "PersistentVolumeClaim";
    if (is_qualified_name(type).empty() && type.find('/') == std::string::npos && !standard) {
      errors.invalid(path, type, "must be a standard limit type or fully qualified");
    }
  }

  // "min value 100m is greater than default request value 0", for each pair that must be in order.
  static void check_order(const Object& item, std::string_view low, std::string_view low_name, std::string_view high,
                          std::string_view high_name, std::string_view blamed, std::string_view printed, const std::string& path,
                          FieldErrors& errors) {
    const Object& lows = object_or_empty(item, low);
    const Object& highs = object_or_empty(item, high);
    for (const auto& entry : lows) {
      const Value* limit = find(highs, entry.key());
      if (limit == nullptr || compare_quantities(text_of(entry.value()), text_of(*limit)) <= 0) continue;
      const std::string_view value = printed == low ? text_of(entry.value()) : text_of(*limit);
      errors.invalid(at_key(at(path, blamed), entry.key()), value,
                     std::string(low_name) + " value " + std::string(text_of(entry.value())) + " is greater than " +
                         std::string(high_name) + " value " + std::string(text_of(*limit)));
    }
  }

  static void check_bounds(const Object& item, const std::string& type, const std::string& path, FieldErrors& errors) {
    for (std::string_view list : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
      for (const auto& entry : object_or_empty(item, list)) check_name(entry.key(), type, at_key(at(path, list), entry.key()), errors);
    }
    check_order(item, "min", "min", "max", "max", "min", "min", path, errors);
    check_order(item, "min", "min", "defaultRequest", "default request", "defaultRequest", "defaultRequest", path, errors);
    check_order(item, "defaultRequest", "default request", "max", "max", "defaultRequest", "defaultRequest", path, errors);
    check_order(item, "min", "min", "default", "default", "default", "default", path, errors);
    check_order(item, "default", "default", "max", "max", "default", "max", path, errors);
    check_order(item, "defaultRequest", "default request", "default", "default limit", "defaultRequest", "defaultRequest", path, errors);
    if (type != "PersistentVolumeClaim") return;
    if (find_path(item, {"min", "storage"}) == nullptr && find_path(item, {"max", "storage"}) == nullptr) {
      errors.required(path, "either minimum or maximum storage value is required, but neither was provided");
    }
  }

  static void check_name(std::string_view name, const std::string& type, const std::string& path, FieldErrors& errors) {
    validate_resource_name(name, path, errors);
    if (name.find('/') != std::string_view::npos || !is_qualified_name(name).empty()) return;
    const bool counted = type != "Pod" && type != "Container";
    if (!counted && !is_standard_container_resource(name)) errors.invalid(path, name, "must be a standard resource for containers");
  }
};

constexpr std::string_view kQuotaResources[] = {"cpu",
                                                "memory",
                                                "ephemeral-storage",
                                                "requests.cpu",
                                                "requests.memory",
                                                "requests.storage",
                                                "requests.ephemeral-storage",
                                                "limits.cpu",
                                                "limits.memory",
                                                "limits.ephemeral-storage",
                                                "pods",
                                                "resourcequotas",
                                                "services",
                                                "replicationcontrollers",
                                                "secrets",
                                                "persistentvolumeclaims",
                                                "configmaps",
                                                "services.nodeports",
                                                "services.loadbalancers"};
constexpr std::string_view kScopes[] = {
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass"};

bool is_scope(std::string_view scope) { return std::find(std::begin(kScopes), std::end(kScopes), scope) != std::end(kScopes); }

bool is_quota_resource(std::string_view name) {
  return std::find(std::begin(kQuotaResources), std::end(kQuotaResources), name) != std::end(kQuotaResources) || is_huge_page(name) ||
         name.starts_with("requests.hugepages-") || name.starts_with("count/") ||
         name.find(".storageclass.storage.k8s.io/") != std::string_view::npos;
}

void print_quota(const Object& object, std::int64_t, Array& cells) {
  const Object& status = object_or_empty(object, "status");
  const Object& hard = object_or_empty(status, "hard");
  const Object& used = object_or_empty(status, "used");
  std::vector<std::string> names, requests, limits;
  for (const auto& entry : hard) names.emplace_back(entry.key());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const Value* have = find(used, name);
    const std::string text = name + ": " + (have ? std::string(text_of(*have)) : "0") + "/" + std::string(text_of(hard.at(name)));
    (name.starts_with("limits") ? limits : requests).push_back(text);
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
    if (old != nullptr) return out;
    const Object& hard = object_or_empty(object_or_empty(object, "spec"), "hard");
    for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
      std::string request_name = "requests." + name;
      const std::string limit_name = "limits." + name;
      // "cpu" and "memory" alone are requests, too.
      if (!hard.contains(request_name) && (name == "cpu" || name == "memory")) request_name = name;
      const std::string request(get_string(hard, request_name)), limit(get_string(hard, limit_name));
      if (request.empty() || limit.empty() || compare_quantities(request, limit) <= 0) continue;
      out.push_back("ResourceQuota " + request_name + " (" + request + ") should be less than " + limit_name + " (" + limit + ")");
    }
    return out;
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    for (const auto& entry : object_or_empty(spec, "hard")) {
      const std::string path = at_key("spec.hard", entry.key());
      validate_resource_name(entry.key(), path, errors);
      if (std::string_view(entry.key()).find('/') == std::string_view::npos && !is_quota_resource(entry.key())) {
        errors.invalid(path, std::string_view(entry.key()), "must be a standard resource for quota");
      }
    }
    if (const Array* scopes = get_array(spec, "scopes")) {
      const bool known = std::all_of(scopes->begin(), scopes->end(), [](const Value& scope) { return is_scope(text_of(scope)); });
      if (!known) errors.invalid_raw("spec.scopes", to_json(*scopes), "unsupported scope");
    }
    each(object_or_empty(spec, "scopeSelector"), "matchExpressions", [&](const Object& each_expression, std::size_t) {
      check_expression(each_expression, "spec.scopeSelector.matchExpressions", errors);
    });
  }

 private:
  static void check_expression(const Object& expression, const std::string& path, FieldErrors& errors) {
    const std::string_view op = get_string(expression, "operator");
    const Array* values = get_array(expression, "values");
    const bool some = values != nullptr && !values->empty();
    if (op == "In" || op == "NotIn") {
      if (!some) errors.required(at(path, "values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (some)
        errors.invalid_raw(at(path, "values"), to_json(*values),
                           "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
    }
  }
};

}  // namespace

KindRow limit_range_row() {
  return {.resource = "limitranges",
          .kind = "LimitRange",
          .short_names = {"limits"},
          .facts = {.create_on_update = true, .rechecks_metadata_change = false, .rechecks_metadata = true},
          .make = made<LimitRangeStrategy>()};
}

KindRow resource_quota_row() {
  return {.resource = "resourcequotas",
          .kind = "ResourceQuota",
          .short_names = {"quota"},
          .facts = {.status = true,
                    .returns_deleted = true,
                    .columns = {name_column(), computed_column("Request", "Used and allowed amounts of what is requested.", print_quota),
                                next_column("Limit", "Used and allowed amounts of limits."), age_column()}},
          .make = made<ResourceQuotaStrategy>()};
}

}  // namespace backplane::core
