// Bootstrap tokens (--enable-bootstrap-token-auth). The token <id>.<secret> is stored in the Secret bootstrap-token-<id> in kube-system,
// and authenticates the user system:bootstrap:<id>.
//
// Thread-safety: any thread.
// Errors:        those of the storage. If the secret does not permit the token, the reason is logged and the token is unknown (nullopt).
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

// Returns the user of a token; the error is the reason why the secret does not permit the token. `id` and `value`: the two parts of the
// token.
Result<UserInfo> bootstrap_user(const Object& secret, std::string_view id, std::string_view value, std::int64_t now_unix);

}  // namespace backplane::authentication
