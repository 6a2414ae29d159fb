// Who a server is to the others over the same store, in kube-apiserver's words.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/rest/host.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

// What is written into each identity's label, and hashed into its name.
inline constexpr std::string_view kServerKind = "kube-apiserver";

// This machine's; empty: it has none.
std::string host_name();
// "apiserver-" and a hash of the host's name and what runs there.
std::string server_id(const std::string& hostname);

// Where other servers reach this one: what the flags say of peers, else what they say of everybody.
struct PeerAddress {
  std::string ip, port;

  // A port that is still to be picked is not.
  bool known() const noexcept { return !ip.empty() && !port.empty() && port != "0"; }
  std::string text() const;
};
PeerAddress peer_address(const Host& host);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
