// The headers Impersonate-User, -Uid, -Group and -Extra-<key>: the user that a client wants to act as.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest for headers without a user name.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

// True for the headers that impersonation reads, in any letter case.
bool is_impersonation_header(std::string_view name) noexcept;

// The user that the headers name, with the groups that they name and no other group; keys of `extra` are sorted. Nullopt if no header
// names a user.
// `constrained`: the gate ConstrainedImpersonation, which changes the text of the error.
Result<std::optional<UserInfo>> wanted_user(const Exchange& exchange, bool constrained);

}  // namespace backplane
