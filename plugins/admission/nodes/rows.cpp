#include "nodes/rows.hpp"

#include <array>

#include "nodes/node_restriction.hpp"
#include "nodes/node_taint.hpp"

namespace backplane::admission {
namespace {

using MadeNodePlugin = Result<std::shared_ptr<AdmissionPlugin>>;

MadeNodePlugin make_node_restriction(Services& services, const AdmissionPluginConfig&) {
  return nodes::node_restriction(services, services.host().authorizer());
}
MadeNodePlugin make_node_taint(Services&, const AdmissionPluginConfig&) { return nodes::taint_nodes_by_condition(); }

constexpr std::array kNodeRows = {
    PluginRow{"NodeRestriction", &make_node_restriction},
    PluginRow{"TaintNodesByCondition", &make_node_taint},
};

}  // namespace

std::span<const PluginRow> node_plugins() { return kNodeRows; }

}  // namespace backplane::admission
