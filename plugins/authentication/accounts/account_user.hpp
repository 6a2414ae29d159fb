// The user of a service account token (apiserver/pkg/authentication/serviceaccount).
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/core/request.hpp"

namespace backplane::authentication {

struct AccountInfo {
  std::string ns, name, uid;
  std::string pod_name, pod_uid;
  std::string node_name, node_uid;
  std::string token_id;  // jti
};

inline std::string account_user_name(const std::string& ns, const std::string& name) { return "system:serviceaccount:" + ns + ":" + name; }

// Name, uid, the groups system:serviceaccounts and system:serviceaccounts:<namespace>, and the extras that are not empty.
UserInfo account_user(const AccountInfo& info);

}  // namespace backplane::authentication
