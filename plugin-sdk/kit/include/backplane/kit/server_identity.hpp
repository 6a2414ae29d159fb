// The identity of a server among the servers that use the same store, compatible with kube-apiserver's.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/host.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

// The label value of identity leases. The names of the leases also contain its hash.
inline constexpr std::string_view kServerKind = "kube-apiserver";

// Returns the machine's host name; empty if it has none.
std::string host_name();
// Returns "apiserver-" and a hash of `hostname` and kServerKind: the name of the server's identity lease.
std::string server_id(const std::string& hostname);

// The address at which peers reach this server: --peer-advertise-ip and --peer-advertise-port; for a flag that is not set, the advertised
// address or the secure port.
struct PeerAddress {
  std::string ip, port;

  // True if the address is complete. Port 0 is incomplete: the port is unknown until the server listens.
  bool known() const noexcept { return !ip.empty() && !port.empty() && port != "0"; }
  // Returns "ip:port"; an IPv6 address is in brackets.
  std::string text() const;
};
PeerAddress peer_address(const Host& host);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
