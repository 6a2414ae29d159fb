// Front proxies (an aggregator, another server of the cluster) present their certificate and name the client in headers:
// apiserver/pkg/authentication/request/headerrequest.
//
// Thread-safety: pure functions.
// Errors:        kUnauthorized for a front proxy whose name is not allowed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

struct RequestHeaderConfig {
  std::string client_ca_file;              // empty: no front proxy is known
  std::vector<std::string> allowed_names;  // common names; empty: any
  std::vector<std::string> username_headers;
  std::vector<std::string> uid_headers;
  std::vector<std::string> group_headers;
  std::vector<std::string> extra_prefixes;
  bool enabled() const noexcept { return !client_ca_file.empty(); }
};

// nullopt for a peer that is not a front proxy, or that names no user.
Result<std::optional<UserInfo>> user_of_request_headers(const RequestHeaderConfig& config, const Exchange& exchange);

}  // namespace backplane
