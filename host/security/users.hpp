// The names of users and groups that the server itself gives a meaning (apiserver/pkg/authentication/user).
//
// Thread-safety: constants and pure functions.
#pragma once

#include <string_view>

#include "backplane/request.hpp"

namespace backplane {

inline constexpr std::string_view kPrivilegedGroup = "system:masters";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kApiServerUser = "system:apiserver";

// Who the server is when it calls itself.
inline UserInfo loopback_user() {
  UserInfo user;
  user.name = kApiServerUser;
  user.groups = {std::string(kPrivilegedGroup), std::string(kAuthenticatedGroup)};
  return user;
}

inline UserInfo anonymous_user() {
  UserInfo user;
  user.name = kAnonymousUser;
  user.groups = {std::string(kUnauthenticatedGroup)};
  return user;
}

}  // namespace backplane
