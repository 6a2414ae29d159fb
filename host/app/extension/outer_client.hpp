// A client whose calls of groups that this server does not serve go to the outer server, with the credentials of --kubeconfig.
//
// Thread-safety: as HttpClient.
// Lifetime:      `is_local` is called with each call; what it uses outlives the client.
// Errors:        those of the two clients.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/net/client.hpp"

namespace backplane {

// The group of an API path ("" for /api/v1/…); nullopt for other paths and for lists of groups.
std::optional<std::string_view> group_of_path(std::string_view target);

// `user`: calls of the outer server are made as this user (Impersonate-*), for which the credentials need the verb impersonate.
std::shared_ptr<HttpClient> make_outer_client(std::shared_ptr<HttpClient> local, std::shared_ptr<HttpClient> outer,
                                              std::function<bool(std::string_view group)> is_local, std::optional<UserInfo> user);

}  // namespace backplane
