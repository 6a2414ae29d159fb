// Rules for the claims of service account tokens whose signature, issuer and audience are good: kubernetes/pkg/serviceaccount.
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

// A token that has been verified.
struct AccountToken {
  std::string text;
  kit::TokenClaims claims;
  Object payload;
};

class ClaimsValidator {
 public:
  virtual ~ClaimsValidator() = default;
  // The service account; `token` and `notes` outlive the task.
  virtual Task<Result<UserInfo>> validate(const AccountToken& token, TokenNotes& notes) = 0;
};

// Seconds since 1970.
using UnixClock = std::function<std::int64_t()>;
std::int64_t unix_now();

// Tokens of the TokenRequest API: times with a leeway of one minute; the account and the object that the token is bound to must exist with
// the same uid, and must not have been deleted more than a minute ago.
std::shared_ptr<ClaimsValidator> make_bound_validator(std::shared_ptr<ObjectReader> objects, AccountMetricsRef metrics,
                                                      UnixClock now = unix_now);

// Writes the label kubernetes.io/legacy-token-last-used.
class LastUsedWriter {
 public:
  virtual ~LastUsedWriter() = default;
  virtual Task<Status> write(std::string ns, std::string name, std::string uid, std::string date) = 0;
};

// Tokens of secrets of the type kubernetes.io/service-account-token, which do not expire. With `look_up`, secret and account must exist
// and the secret must have this token; the first use of a day is written to the secret.
// `logger` outlives the validator.
std::shared_ptr<ClaimsValidator> make_legacy_validator(bool look_up, std::shared_ptr<ObjectReader> objects,
                                                       std::shared_ptr<LastUsedWriter> last_used, AccountMetricsRef metrics, Logger& logger,
                                                       UnixClock now = unix_now);

}  // namespace backplane::authentication
