// Bootstrap tokens (--enable-bootstrap-token-auth): <id>.<secret> of a Secret bootstrap-token-<id> in kube-system, the user
// system:bootstrap:<id>.
//
// Thread-safety: any thread.
// Errors:        those of the storage; a secret that does not permit the token makes it unknown, with a log line.
#pragma once

#include <functional>
#include <memory>

#include "backplane/core/logger.hpp"
#include "tokens/object_reader.hpp"
#include "tokens/token_source.hpp"

namespace backplane::authentication {

class BootstrapTokens final : public TokenSource {
 public:
  // `logger` outlives the source.
  BootstrapTokens(std::shared_ptr<ObjectReader> objects, Logger& logger) : objects_(std::move(objects)), logger_(logger) {}
  std::string_view name() const noexcept override { return "bootstrap-tokens"; }
  Task<AuthenticationResult> authenticate(std::string token, std::vector<std::string> audiences, TokenNotes& notes) override;

 private:
  const std::shared_ptr<ObjectReader> objects_;
  Logger& logger_;
};

// The user of the secret's token; the reason why there is none if the secret does not permit it. `id` and `value`: of the token.
Result<UserInfo> bootstrap_user(const Object& secret, std::string_view id, std::string_view value, std::int64_t now_unix);

}  // namespace backplane::authentication
