// Front proxies, such as an aggregator or another server of the cluster. A front proxy authenticates by its certificate, and names the user
// in request headers (upstream: apiserver/pkg/authentication/request/headerrequest).
//
// Thread-safety: pure functions.
// Errors:        kUnauthorized if the common name of the front proxy's certificate is not allowed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

struct RequestHeaderConfig {
  std::string client_ca_file;              // empty: front proxies are disabled
  std::vector<std::string> allowed_names;  // allowed common names; empty: all
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_prefixes;
  bool enabled() const noexcept { return !client_ca_file.empty(); }
};

// Returns nullopt if the peer is not a front proxy, or if the request does not name a user.
Result<std::optional<UserInfo>> user_of_request_headers(const RequestHeaderConfig& config, const Exchange& exchange);

}  // namespace backplane
