// The headers that a proxy forwards, and their rewriting.
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
// Whether the Upgrade header offers this protocol.
bool names_upgrade_to(const Headers& headers, std::string_view protocol);
// The headers for the backend, without the length of the body.  Moves call.headers.
Headers request_headers(const RequestContext& context, const Exchange& exchange, ProxyCall& call, bool upgrade);
// The headers for the client; the content type is separate.
Headers answer_headers(const Headers& headers, const ProxyCall& call, std::string_view client_host);

}  // namespace backplane::proxying
