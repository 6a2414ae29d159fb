#include "network/rows.hpp"

#include <array>

#include "network/default_ingress_class.hpp"
#include "network/external_ips.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kNetworkRows = {
    PluginRow{"DefaultIngressClass", &network::make_default_ingress_class},
    PluginRow{"DenyServiceExternalIPs", &network::make_deny_external_ips},
};

}  // namespace

std::span<const PluginRow> network_plugins() { return kNetworkRows; }

}  // namespace backplane::admission
