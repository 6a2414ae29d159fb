// Nodes.
#include <algorithm>
#include <set>

#include "backplane/kit/addresses.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds/kinds.hpp"
#include "printing/go_struct.hpp"

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

Value show_or_unknown(const Value* found, std::int64_t) {
  const std::string_view text = found != nullptr ? text_of(*found) : std::string_view();
  return Value(text.empty() ? "<unknown>" : text);
}

void print_state(const Object& node, std::int64_t, Array& cells) {
  cells.emplace_back(print_status(node));
  cells.emplace_back(print_roles(node));
}

void print_addresses(const Object& node, std::int64_t, Array& cells) {
  cells.emplace_back(address_of(node, "InternalIP"));
  cells.emplace_back(address_of(node, "ExternalIP"));
}

void print_kernel(const Object& node, std::int64_t now, Array& cells) {
  const Object& info = object_or_empty(object_or_empty(node, "status"), "nodeInfo");
  std::string kernel(show_or_unknown(find(info, "kernelVersion"), now).get_string());
  if (const std::string_view architecture = get_string(info, "architecture"); !architecture.empty()) {
    kernel += " (" + std::string(architecture) + ")";
  }
  cells.emplace_back(kernel);
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
                       "Duplicate value: " + to_json(go_struct("Taint", taint)) + ": taints must be unique by key and effect pair"};
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
  using KindStrategy::KindStrategy;
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
  void prepare_update(Object& object, const Object& old) const override { take_member(object, old, "status"); }
  void check(const Object& object, FieldErrors& errors) const override {
    check_taints(object, errors);
    const Array* cidrs = get_array(object_or_empty(object, "spec"), "podCIDRs");
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

KindRow node_row() {
  const std::string info = ".status.nodeInfo.";
  return {
      .resource = "nodes",
      .kind = "Node",
      .short_names = {"no"},
      .facts = {.namespaced = false,
                .rechecks_metadata = true,
                .selectable = {{"spec.unschedulable", "spec.unschedulable", "false"}},
                .columns = {name_column(), computed_column("Status", "Whether the node is ready and takes new pods.", print_state),
                            next_column("Roles", "Roles given by labels."), age_column(),
                            text_column("Version", "Version of the kubelet.", info + "kubeletVersion"),
                            computed_column("Internal-IP", "Address inside the cluster.", print_addresses, 1),
                            next_column("External-IP", "Address outside the cluster.", 1),
                            shown_column("OS-Image", "Operating system.", info + "osImage", show_or_unknown, 1),
                            computed_column("Kernel-Version", "Kernel and architecture.", print_kernel, 1),
                            shown_column("Container-Runtime", "Container runtime.", info + "containerRuntimeVersion", show_or_unknown, 1)}},
      .make = made<NodeStrategy>(),
      .make_status = made_status<StatusStrategy>,
      .storage_prefix = "minions"};
}

}  // namespace backplane::core
