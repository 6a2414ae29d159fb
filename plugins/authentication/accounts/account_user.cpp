#include "accounts/account_user.hpp"

namespace backplane::authentication {

UserInfo account_user(const AccountInfo& info) {
  UserInfo out;
  out.name = account_user_name(info.ns, info.name);
  out.uid = info.uid;
  out.groups = {"system:serviceaccounts", "system:serviceaccounts:" + info.ns};
  const auto add = [&out](const char* key, std::string value) {
    std::vector<std::string> values;
    values.push_back(std::move(value));
    out.extra.emplace_back("authentication.kubernetes.io/" + std::string(key), std::move(values));
  };
  if (!info.token_id.empty()) add("credential-id", "JTI=" + info.token_id);
  if (!info.node_name.empty()) {
    add("node-name", info.node_name);
    if (!info.node_uid.empty()) add("node-uid", info.node_uid);
  }
  if (!info.pod_name.empty() && !info.pod_uid.empty()) {
    add("pod-name", info.pod_name);
    add("pod-uid", info.pod_uid);
  }
  return out;
}

}  // namespace backplane::authentication
