// The headers Impersonate-User, Impersonate-Uid, Impersonate-Group and Impersonate-Extra-<key>. They name the user that a client wants to
// impersonate.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest if there are such headers but no user name.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

// Returns true for the headers that impersonation reads, in any letter case.
bool is_impersonation_header(std::string_view name) noexcept;

// Returns the user that the headers name, with only the groups that the headers name. The keys of `extra` are sorted. Returns nullopt if
// there are no impersonation headers.
// `constrained`: the gate ConstrainedImpersonation, which changes the text of the error.
Result<std::optional<UserInfo>> wanted_user(const Exchange& exchange, bool constrained);

}  // namespace backplane
