// Copies the front proxies and client CAs that the outer server trusts to this server: from the ConfigMap
// kube-system/extension-apiserver-authentication into files and flags.
//
// Thread-safety: write_trust() and trust_flags(): one thread. follow_trust(): its informer runs on `executor`.
// Lifetime:      the informer of follow_trust() ends when `stop` fires; `logger` outlives it.
// Errors:        trust_flags(): kBadRequest that names the key with a value that is not a JSON list. write_trust(): those of the files.
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

// Writes the certificates in `data` to front-proxy-ca.crt and client-ca.crt in the directory `dir`. The server reads the files again when
// they change.
Status write_trust(const std::string& dir, const Object& data);
// The flags for these files and for the names in `data` (--requestheader-…, --client-ca-file).
Result<std::vector<std::string>> trust_flags(const std::string& dir, const Object& data);

// Updates the files when the ConfigMap changes. If names of headers or of front proxies change, a log line asks for a restart.
void follow_trust(std::shared_ptr<ApiClient> outer, std::string dir, Logger& logger, Executor& executor, TaskGroup& tasks, Signal& stop);

}  // namespace backplane
