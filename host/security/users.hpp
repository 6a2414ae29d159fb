// The names of users and groups that have a meaning for the server (apiserver/pkg/authentication/user).
//
// Thread-safety: constants and pure functions.
#pragma once

#include <string_view>

#include "backplane/core/request.hpp"

namespace backplane {

inline constexpr std::string_view kPrivilegedGroup = "system:masters";
inline constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kApiServerUser = "system:apiserver";

// The user of the server's calls to itself.
inline UserInfo loopback_user() {
  UserInfo user;
  user.name = kApiServerUser;
  user.groups = {std::string(kPrivilegedGroup), std::string(kAuthenticatedGroup)};
  return user;
}

// Like upstream's group adder: adds system:authenticated, except to the anonymous user and to members of system:unauthenticated.
inline UserInfo with_authenticated_group(UserInfo user) {
  if (user.name == kAnonymousUser) return user;
  for (const auto& group : user.groups) {
    if (group == kAuthenticatedGroup || group == kUnauthenticatedGroup) return user;
  }
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

inline UserInfo anonymous_user() {
  UserInfo user;
  user.name = kAnonymousUser;
  user.groups = {std::string(kUnauthenticatedGroup)};
  return user;
}

}  // namespace backplane
