// Functions that read a pod's container, node and address for connections to the pod.
//
// Thread-safety: pure functions of a pod's tree.
// Errors:        kBadRequest with upstream's messages.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

// Returns `wanted` if the pod has a container of that name. If `wanted` is empty, returns the pod's only regular container.
Result<std::string> choose_container(const Object& pod, std::string_view wanted);
std::string_view node_of(const Object& pod);
// Returns the first address of the pod. Errors: kBadRequest "address not allowed" if it is not a global unicast address.
Result<std::string> address_of(const Object& pod);
bool has_address(const Object& pod, std::string_view address);
// Returns the first port that a container declares; empty: none.
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
