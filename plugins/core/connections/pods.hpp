// Look-ups of connections to a pod: its container, node and address.
//
// Thread-safety: pure functions of a pod's tree.
// Errors:        kBadRequest with upstream's messages.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

// The container `wanted`, which must exist; empty: the only container of the pod.
Result<std::string> choose_container(const Object& pod, std::string_view wanted);
std::string_view node_of(const Object& pod);
// The first address of the pod, which must be reachable from outside of its host. "address not allowed" otherwise.
Result<std::string> address_of(const Object& pod);
bool has_address(const Object& pod, std::string_view address);
// The first declared port of the containers; empty: none.
std::string first_port(const Object& pod);

// "name", "name:port" or "scheme:name:port".
struct SchemeNamePort {
  std::string scheme, name, port;
};
// `what`: pod, service or node.  Errors: kBadRequest `invalid pod request "…"`.
Result<SchemeNamePort> split_scheme_name_port(std::string_view id, std::string_view what);

// True for unicast addresses that are neither loopback nor link-local.
bool is_global_unicast(std::string_view address);

}  // namespace backplane::core
