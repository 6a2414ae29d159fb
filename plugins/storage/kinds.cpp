#include "kinds.hpp"

#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/workload/warnings.hpp"
#include "storage_group_json.hpp"
#include "storage_v1_json.hpp"
#include "storage_v1beta1_json.hpp"

namespace backplane::storage {
namespace {

using namespace kit;

// A new CSI driver has no generation; its first change sets the generation to 1.
class DriverStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    const Object& spec = object_or_empty(object, "spec");
    const bool asks = count_of(spec, "tokenRequests") > 0 && !has(spec, "serviceAccountTokenInSecrets");
    if (!asks || (old != nullptr && same_member(spec, object_or_empty(*old, "spec"), "tokenRequests"))) return {};
    return {
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in "
        "volume attributes"};
  }

 protected:
  void prepare_update(Object& object, const Object& old) const override {
    if (same_member(object, old, "spec")) return;
    ObjectMeta(object).set_generation(get_int_path(old, "metadata.generation").value_or(0) + 1);
  }
};

// A driver's entry is immutable as long as it is on the node, except its volume limit.
class NodeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    null_when_empty(spec, "drivers");
    each_mutable(spec, "drivers", [](Object& driver) { null_when_empty(driver, "topologyKeys"); });
  }

 protected:
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    each(object_or_empty(old, "spec"), "drivers", [&](const Object& before, std::size_t) {
      each(object_or_empty(object, "spec"), "drivers", [&](const Object& now, std::size_t) {
        if (get_string(now, "name") != get_string(before, "name") || fixed_part(now) == fixed_part(before)) return;
        errors.invalid_raw("spec.drivers", to_json(fixed_part(now)), "field is immutable");
      });
    });
  }

 private:
  // Returns the immutable part, in the format in which kube-apiserver prints its struct.
  static Object fixed_part(const Object& driver) {
    const Array* keys = get_array(driver, "topologyKeys");
    Object out;
    out["Name"] = get_string(driver, "name");
    out["NodeID"] = get_string(driver, "nodeID");
    out["TopologyKeys"] = keys != nullptr && !keys->empty() ? Value(*keys) : Value(nullptr);
    out["Allocatable"] = nullptr;
    return out;
  }
};

class ClassStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  // Refuses equal terms. Upstream's loop also compares each term with zero values, so an empty term is refused.
  void check(const Object& object, FieldErrors& errors) const override {
    std::vector<Topology> seen(count_of(object, "allowedTopologies"));
    each(object, "allowedTopologies", [&](const Object& term, std::size_t i) {
      Topology own = topology_of(term);
      for (const Topology& other : seen) {
        if (own == other) errors.duplicate(at(at("allowedTopologies", i), "matchLabelExpressions"), "");
      }
      seen.push_back(std::move(own));
    });
  }

 private:
  using Topology = std::map<std::string_view, std::set<std::string>>;
  static Topology topology_of(const Object& term) {
    Topology out;
    each(term, "matchLabelExpressions", [&](const Object& expression, std::size_t) {
      const auto values = texts_of(expression, "values");
      out[get_string(expression, "key")] = {values.begin(), values.end()};
    });
    return out;
  }
};

void print_class_name(const Object& object, std::int64_t, Array& cells) {
  const Object& annotations = object_or_empty(object_or_empty(object, "metadata"), "annotations");
  const bool is_default = get_string(annotations, "storageclass.kubernetes.io/is-default-class") == "true" ||
                          get_string(annotations, "storageclass.beta.kubernetes.io/is-default-class") == "true";
  cells.emplace_back(std::string(meta_name(object)) + (is_default ? " (default)" : ""));
}

Value show_flag(const Value* found, std::int64_t) { return found != nullptr && found->is_bool() && found->get_bool(); }

void warn_of_label(const Value& key, const std::string& path, std::vector<std::string>& warnings) {
  workload::warn_of_node_label(text_of(key), path, warnings);
}
void warn_of_topology(const Value& selector, const std::string& path, std::vector<std::string>& warnings) {
  if (selector.is_object()) workload::warn_of_node_labels(selector.get_object(), path, warnings);
}

}  // namespace

Result<GroupDocument> storage_group() {
  const GroupCode code{.printers = {{"className", print_class_name}, {"flag", show_flag}},
                       .warnings = {{"nodeLabel", warn_of_label}, {"nodeTopology", warn_of_topology}},
                       .kinds = {{"CSIDriver", {.make = made<DriverStrategy>()}},
                                 {"CSINode", {.make = made<NodeStrategy>()}},
                                 {"StorageClass", {.make = made<ClassStrategy>()}}}};
  return read_group(storage_group_json(), code);
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> storage_schemas() {
  return embedded_schemas({storage_v1_json(), storage_v1beta1_json()});
}

}  // namespace backplane::storage
