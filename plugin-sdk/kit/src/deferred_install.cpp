#include "backplane/kit/deferred_install.hpp"

#include <algorithm>
#include <string>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

bool gate_is_on(const Host& host, std::string_view gate) {
  return host.flag("feature-gates." + std::string(gate)) == std::optional<std::string>("true");
}

void defer_gated_kinds(const Host& host, GroupDocument& document, std::initializer_list<GatedKind> kinds) {
  for (const GatedKind& held : kinds) {
    const bool on = std::all_of(held.gates.begin(), held.gates.end(), [&](std::string_view gate) { return gate_is_on(host, gate); });
    if (!on) std::erase_if(document.kinds, [&](const KindRow& row) { return row.kind == held.kind; });
  }
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
