// Selects and rewrites the headers that a proxy forwards.
//
// Thread-safety: any thread.
#pragma once

#include <string>
#include <string_view>

#include "backplane/net/proxy.hpp"

namespace backplane::proxying {

bool same_name(std::string_view left, std::string_view right) noexcept;
// Returns the first value of the header; empty if it is absent.
std::string_view first_of(const Headers& headers, std::string_view name) noexcept;
// True if the Upgrade header contains this protocol.
bool names_upgrade_to(const Headers& headers, std::string_view protocol);
// Returns the headers for the backend, without the length of the body.  Moves call.headers.
Headers request_headers(const RequestContext& context, const Exchange& exchange, ProxyCall& call, bool upgrade);
// Returns the headers for the client, without the content type.
Headers answer_headers(const Headers& headers, const ProxyCall& call, std::string_view client_host);

}  // namespace backplane::proxying
