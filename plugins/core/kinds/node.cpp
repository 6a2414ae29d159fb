// Nodes.
#include <algorithm>
#include <set>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/addresses.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds/strategies.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

std::string print_status(const Object& node) {
  std::vector<std::string> parts;
  each(object_or_empty(node, "status"), "conditions", [&](const Object& condition, std::size_t) {
    if (get_string(condition, "type") == "Ready") parts.emplace_back(get_string(condition, "status") == "True" ? "Ready" : "NotReady");
  });
  if (parts.empty()) parts.emplace_back("Unknown");
  if (get_bool(object_or_empty(node, "spec"), "unschedulable").value_or(false)) parts.emplace_back("SchedulingDisabled");
  return joined(parts);
}

std::string print_roles(const Object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  const Value* labels = find_path(node, {"metadata", "labels"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& label : labels->get_object()) {
      const std::string_view key = label.key();
      if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.emplace(key.substr(kPrefix.size()));
      if (key == "kubernetes.io/role" && !text_of(label.value()).empty()) roles.emplace(text_of(label.value()));
    }
  }
  return roles.empty() ? "<none>" : joined({roles.begin(), roles.end()});
}

std::string address_of(const Object& node, std::string_view type) {
  std::string found = "<none>";
  bool done = false;
  each(object_or_empty(node, "status"), "addresses", [&](const Object& address, std::size_t) {
    if (done || get_string(address, "type") != type) return;
    found = get_string(address, "address");
    done = true;
  });
  return found;
}

std::string or_unknown(std::string_view text) { return text.empty() ? "<unknown>" : std::string(text); }

void print_node(const Object& node, std::int64_t now, Array& cells) {
  const Object& info = object_or_empty(object_or_empty(node, "status"), "nodeInfo");
  std::string kernel = or_unknown(get_string(info, "kernelVersion"));
  if (const std::string_view architecture = get_string(info, "architecture"); !architecture.empty()) {
    kernel += " (" + std::string(architecture) + ")";
  }
  cells.emplace_back(meta_name(node));
  cells.emplace_back(print_status(node));
  cells.emplace_back(print_roles(node));
  cells.emplace_back(age_of(node, now));
  cells.emplace_back(get_string(info, "kubeletVersion"));
  cells.emplace_back(address_of(node, "InternalIP"));
  cells.emplace_back(address_of(node, "ExternalIP"));
  cells.emplace_back(or_unknown(get_string(info, "osImage")));
  cells.emplace_back(kernel);
  cells.emplace_back(or_unknown(get_string(info, "containerRuntimeVersion")));
}

std::string print_taint(const Object& taint) {
  const Value* added = find(taint, "timeAdded");
  return "{\"Key\":" + to_json(Value(get_string(taint, "key"))) + ",\"Value\":" + to_json(Value(get_string(taint, "value"))) +
         ",\"Effect\":" + to_json(Value(get_string(taint, "effect"))) + ",\"TimeAdded\":" + (added ? to_json(*added) : "null") + "}";
}

void check_taints(const Object& node, FieldErrors& errors) {
  std::set<std::pair<std::string, std::string>> seen;
  each(object_or_empty(node, "spec"), "taints", [&](const Object& taint, std::size_t i) {
    const std::string path = at("metadata.taints", i);
    const std::string key(get_string(taint, "key")), effect(get_string(taint, "effect"));
    add_problems(is_qualified_name(key), at(path, "key"), key, errors);
    add_problems(is_valid_label_value(get_string(taint, "value")), at(path, "value"), get_string(taint, "value"), errors);
    if (effect.empty()) {
      errors.required(at(path, "effect"));
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      errors.not_supported(at(path, "effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (!effect.empty() && !seen.insert({key, effect}).second) {
      FieldError error{FieldErrorType::kDuplicate, path,
                       "Duplicate value: " + print_taint(taint) + ": taints must be unique by key and effect pair"};
      errors.add(std::move(error));
    }
  });
}

// podCIDR and podCIDRs[0] are two names of one field; the single one wins.
void default_pod_cidrs(Object& node) {
  Object* spec = mutable_object(node, "spec");
  if (spec == nullptr) return;
  const std::string one(get_string(*spec, "podCIDR"));
  const Array* many = get_array(*spec, "podCIDRs");
  const bool some = many != nullptr && !many->empty();
  if (one.empty()) {
    if (some) (*spec)["podCIDR"] = std::string(text_of((*many)[0]));
  } else if (!some || text_of((*many)[0]) != one) {
    (*spec)["podCIDRs"] = Array{one};
  }
}

class NodeStrategy final : public KindStrategy {
 public:
  bool namespaced() const override { return false; }
  std::vector<SelectableField> selectable_fields() const override { return {{"spec.unschedulable", "spec.unschedulable", "false"}}; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        {name_column(), text_column("Status", "Whether the node is ready and takes new pods."),
         text_column("Roles", "Roles given by labels."), age_column(), text_column("Version", "Version of the kubelet."),
         text_column("Internal-IP", "Address inside the cluster.", 1), text_column("External-IP", "Address outside the cluster.", 1),
         text_column("OS-Image", "Operating system.", 1), text_column("Kernel-Version", "Kernel and architecture.", 1),
         text_column("Container-Runtime", "Container runtime.", 1)},
        print_node);
    return table;
  }
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    std::vector<std::string> out;
    const Object& spec = object_or_empty(object, "spec");
    if (has(spec, "configSource")) out.emplace_back("spec.configSource: the feature is removed");
    if (!get_string(spec, "externalID").empty()) {
      out.emplace_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
    }
    const Array* cidrs = get_array(spec, "podCIDRs");
    for (std::size_t i = 0; cidrs != nullptr && i < cidrs->size(); ++i) {
      for (std::string& text : cidr_warnings(at("spec.podCIDRs", i), text_of((*cidrs)[i]))) out.push_back(std::move(text));
    }
    return out;
  }
  void apply_defaults(Object& object) const override {
    default_pod_cidrs(object);
    Object* status = mutable_object(object, "status");
    if (status == nullptr) return;
    const Object* capacity = get_object(*status, "capacity");
    if (capacity == nullptr || has(*status, "allocatable")) return;
    const Object copy(*capacity);
    (*status)["allocatable"] = copy;
  }

 protected:
  bool rechecks_metadata() const override { return true; }
  void prepare_update(Object& object, const Object& old) const override { take_member(object, old, "status"); }
  void check(const Object& object, FieldErrors& errors) const override {
    check_taints(object, errors);
    const Array* cidrs = get_array(object_or_empty(object, "spec"), "podCIDRs");
    for (std::size_t i = 0; cidrs != nullptr && i < cidrs->size(); ++i) {
      const std::string_view cidr = text_of((*cidrs)[i]);
      add_problems(legacy_cidr_problems(cidr), at("spec.podCIDRs", i), cidr, errors);
    }
    if (cidrs == nullptr || cidrs->size() < 2) return;
    const auto six = [](const Value& cidr) { return text_of(cidr).find(':') != std::string_view::npos; };
    if (cidrs->size() > 2 || six((*cidrs)[0]) == six((*cidrs)[1])) {
      errors.invalid_raw("spec.podCIDRs", to_json(*cidrs), "may specify no more than one CIDR for each IP family");
    }
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_taints(object, errors);  // upstream's update rules hold the create rules once more
    const Object& spec = object_or_empty(object, "spec");
    const Object& before = object_or_empty(old, "spec");
    const Array* cidrs = get_array(before, "podCIDRs");
    if (cidrs != nullptr && !cidrs->empty() && !same_member(spec, before, "podCIDRs")) {
      errors.forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid");
    }
    if (!get_string(before, "providerID").empty() && !same_member(spec, before, "providerID")) {
      errors.forbidden("spec.providerID", "node updates may not change providerID except from \"\" to valid");
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> node_strategy() { return std::make_shared<NodeStrategy>(); }
std::shared_ptr<const Strategy> node_status_strategy() { return std::make_shared<StatusStrategy>(node_strategy()); }

}  // namespace backplane::core
