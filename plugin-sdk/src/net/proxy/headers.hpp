// Which headers a proxy passes on, and in which form.
//
// Thread-safety: any thread.
#pragma once

#include <string>
#include <string_view>

#include "backplane/net/proxy.hpp"

namespace backplane::proxying {

bool same_name(std::string_view left, std::string_view right) noexcept;
// First value, or empty.
std::string_view first_of(const Headers& headers, std::string_view name) noexcept;
// Whether one of the protocols that Upgrade offers is this one.
bool names_upgrade_to(const Headers& headers, std::string_view protocol);
// What the backend is sent, but for the length of the body.  Takes call.headers.
Headers request_headers(const RequestContext& context, const Exchange& exchange, ProxyCall& call, bool upgrade);
// What the client is sent of the backend's; its content type comes apart.
Headers answer_headers(const Headers& headers, const ProxyCall& call, std::string_view client_host);

}  // namespace backplane::proxying
