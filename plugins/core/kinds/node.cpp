// How nodes are shown.
#include <set>

#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

Value show_roles(const Value* labels, std::int64_t) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  if (labels == nullptr || !labels->is_object()) return "<none>";
  std::set<std::string> roles;
  for (const auto& label : labels->get_object()) {
    const std::string_view key = label.key();
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.emplace(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && !text_of(label.value()).empty()) roles.emplace(text_of(label.value()));
  }
  return Value(roles.empty() ? "<none>" : joined({roles.begin(), roles.end()}));
}

}  // namespace

void add_nodes(GroupCode& code) { code.printers.emplace("nodeRoles", show_roles); }

}  // namespace backplane::core
