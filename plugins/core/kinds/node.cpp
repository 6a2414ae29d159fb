// Nodes.
#include <set>

#include "backplane/kit/addresses.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

std::string print_status(const Object& node) {
  const Object* ready = find_item(object_or_empty(node, "status"), "conditions", "type", "Ready");
  std::string out = ready == nullptr ? "Unknown" : get_string(*ready, "status") == "True" ? "Ready" : "NotReady";
  return get_bool(object_or_empty(node, "spec"), "unschedulable").value_or(false) ? out + ",SchedulingDisabled" : out;
}

std::string print_roles(const Object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& label : object_or_empty(object_or_empty(node, "metadata"), "labels")) {
    const std::string_view key = label.key();
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.emplace(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && !text_of(label.value()).empty()) roles.emplace(text_of(label.value()));
  }
  return roles.empty() ? "<none>" : joined({roles.begin(), roles.end()});
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
  for (std::string_view type : {"InternalIP", "ExternalIP"}) {
    const Object* found = find_item(object_or_empty(node, "status"), "addresses", "type", type);
    cells.emplace_back(found != nullptr ? get_string(*found, "address") : std::string_view("<none>"));
  }
}

void print_kernel(const Object& node, std::int64_t now, Array& cells) {
  const Object& info = object_or_empty(object_or_empty(node, "status"), "nodeInfo");
  std::string kernel(show_or_unknown(find(info, "kernelVersion"), now).get_string());
  if (const std::string_view architecture = get_string(info, "architecture"); !architecture.empty()) {
    kernel += " (" + std::string(architecture) + ")";
  }
  cells.emplace_back(kernel);
}

// podCIDR and podCIDRs[0] are two names of one field; the single one wins.
void default_pod_cidrs(Object& node) {
  Object* spec = mutable_object(node, "spec");
  if (spec == nullptr) return;
  const std::string one(get_string(*spec, "podCIDR"));
  const auto many = texts_of(*spec, "podCIDRs");
  if (one.empty() && !many.empty()) (*spec)["podCIDR"] = many[0];
  if (!one.empty() && (many.empty() || many[0] != one)) (*spec)["podCIDRs"] = Array{one};
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
    each_text(spec, "podCIDRs", [&](std::string_view cidr, std::size_t i) {
      for (std::string& text : cidr_warnings(at("spec.podCIDRs", i), cidr)) out.push_back(std::move(text));
    });
    return out;
  }
  void apply_defaults(Object& object) const override { default_pod_cidrs(object); }

 protected:
  void prepare_update(Object& object, const Object& old) const override { take_member(object, old, "status"); }
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const auto cidrs = texts_of(spec, "podCIDRs");
    const auto six = [](const std::string& cidr) { return cidr.find(':') != std::string::npos; };
    if (cidrs.size() > 2 || (cidrs.size() == 2 && six(cidrs[0]) == six(cidrs[1]))) {
      errors.invalid_raw("spec.podCIDRs", to_json(*find(spec, "podCIDRs")), "may specify no more than one CIDR for each IP family");
    }
  }
};

}  // namespace

void add_nodes(GroupCode& code) {
  code.kinds["Node"] = {.make = made<NodeStrategy>(), .make_status = made_status<StatusStrategy>};
  code.printers.insert(
      {{"nodeState", print_state}, {"nodeAddresses", print_addresses}, {"nodeKernel", print_kernel}, {"orUnknown", show_or_unknown}});
}

}  // namespace backplane::core
