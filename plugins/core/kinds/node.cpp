// How nodes are shown.
#include <set>

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

void print_state(const Object& node, std::int64_t, Array& cells) {
  cells.emplace_back(print_status(node));
  cells.emplace_back(print_roles(node));
}

Value show_kernel(const Value* info, std::int64_t) {
  if (info == nullptr || !info->is_object()) return "<unknown>";
  const Object& system = info->get_object();
  const std::string_view kernel = get_string(system, "kernelVersion"), architecture = get_string(system, "architecture");
  return Value(std::string(kernel.empty() ? "<unknown>" : kernel) + (architecture.empty() ? "" : " (" + std::string(architecture) + ")"));
}

}  // namespace

void add_nodes(GroupCode& code) { code.printers.insert({{"nodeState", print_state}, {"nodeKernel", show_kernel}}); }

}  // namespace backplane::core
