// The front proxies and client CAs that the outer server trusts: the ConfigMap kube-system/extension-apiserver-authentication, as files and
// flags of this server.
//
// Thread-safety: startup, one thread; the follower on its executor.
// Lifetime:      the follower is shared by its task and ends with the stop signal.
// Errors:        kBadRequest naming the key that cannot be used.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/task_group.hpp"
#include "backplane/net/client.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane {

inline constexpr std::string_view kTrustNamespace = "kube-system", kTrustName = "extension-apiserver-authentication";

// Writes front-proxy-ca.crt and client-ca.crt of `data` into the directory `dir`; the server reads them again when they change.
Status write_trust(const std::string& dir, const Object& data);
// The flags for these files and for the names in `data` (--requestheader-…, --client-ca-file).
Result<std::vector<std::string>> trust_flags(const std::string& dir, const Object& data);

// Updates the files when the ConfigMap changes. If names of headers or of front proxies change, a log line asks for a restart.
void follow_trust(std::shared_ptr<ApiClient> outer, std::string dir, Logger& logger, Executor& executor, TaskGroup& tasks, Signal& stop);

}  // namespace backplane
