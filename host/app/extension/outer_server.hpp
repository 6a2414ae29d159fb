// What a runner reads from the outer server before it can create its server.
//
// Thread-safety: blocks the calling thread; startup.
// Errors:        kBadRequest naming the flag or the missing permission.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/net/client.hpp"

namespace backplane {

struct OuterFacts {
  Object trust;                     // `data` of the ConfigMap kube-system/extension-apiserver-authentication
  std::vector<std::string> groups;  // served API groups; the core group is "v1"
};

// Reads the kubeconfig in `file`.
Result<ClientConfig> read_outer_config(const std::string& file);
// Repeats the requests until the outer server can be reached.
Result<OuterFacts> read_outer_facts(const ClientConfig& outer);
// A kubeconfig with the credentials of `outer`, whose server is the URL of `outer` followed by `path` ("/apis/…/tokenreviews").
std::string review_kubeconfig(const ClientConfig& outer, std::string_view path);

}  // namespace backplane
