// An HttpClient that sends calls of API groups that this server does not serve to the outer server, with the credentials of --kubeconfig.
// All other calls go to this server.
//
// Thread-safety: as HttpClient.
// Lifetime:      the client calls `is_local` for each call of an API group; the objects that `is_local` uses outlive the client.
// Errors:        those of the two clients.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/net/client.hpp"

namespace backplane {

// The group of an API path ("" for /api/v1/…). nullopt for other paths, and for the lists /api and /apis.
std::optional<std::string_view> group_of_path(std::string_view target);

// If `user` is set, calls to the outer server impersonate that user (headers Impersonate-*). The credentials of --kubeconfig then need the
// verb impersonate.
std::shared_ptr<HttpClient> make_outer_client(std::shared_ptr<HttpClient> local, std::shared_ptr<HttpClient> outer,
                                              std::function<bool(std::string_view group)> is_local, std::optional<UserInfo> user);

}  // namespace backplane
