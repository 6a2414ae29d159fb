// Checks the claims of service account tokens whose signature, issuer and audiences are valid (upstream: kubernetes/pkg/serviceaccount).
//
// Thread-safety: any thread.
// Errors:        kUnauthorized; messages are upstream's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "accounts/account_metrics.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/logger.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/task.hpp"
#include "backplane/kit/jws.hpp"
#include "tokens/object_reader.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

// A token whose signature has been verified.
struct AccountToken {
  std::string text;
  kit::TokenClaims claims;
  Object payload;
};

class ClaimsValidator {
 public:
  virtual ~ClaimsValidator() = default;
  // Returns the user of the token's service account. `token` and `notes` outlive the task.
  virtual Task<Result<UserInfo>> validate(const AccountToken& token, TokenNotes& notes) = 0;
};

// Seconds since 1970.
using UnixClock = std::function<std::int64_t()>;
std::int64_t unix_now();

// The validator of tokens of the TokenRequest API. It checks the times with a leeway of one minute. The service account, and the object to
// which the token is bound, must exist with the uid in the token, and must not have been deleted more than a minute ago.
std::shared_ptr<ClaimsValidator> make_bound_validator(std::shared_ptr<ObjectReader> objects, AccountMetricsRef metrics,
                                                      UnixClock now = unix_now);

// Writes the label kubernetes.io/legacy-token-last-used.
class LastUsedWriter {
 public:
  virtual ~LastUsedWriter() = default;
  virtual Task<Status> write(std::string ns, std::string name, std::string uid, std::string date) = 0;
};

// The validator of tokens in secrets of the type kubernetes.io/service-account-token, which do not expire. If `look_up`, the secret and the
// service account must exist, and the secret must contain the token; `last_used` records the first use on each day.
// `logger` outlives the validator.
std::shared_ptr<ClaimsValidator> make_legacy_validator(bool look_up, std::shared_ptr<ObjectReader> objects,
                                                       std::shared_ptr<LastUsedWriter> last_used, AccountMetricsRef metrics, Logger& logger,
                                                       UnixClock now = unix_now);

}  // namespace backplane::authentication
