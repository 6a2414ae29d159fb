// Signs the claims of service account tokens: with a key of this server, or by an external process (--service-account-signing-endpoint).
//
// Thread-safety: any thread.
// Lifetime:      shared by the requests in progress.
// Errors:        those of the signer; kServiceUnavailable before the external process has been reached.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/kit/external_signer.hpp"
#include "backplane/kit/token_signer.hpp"

namespace backplane::core {

class TokenIssuer {
 public:
  virtual ~TokenIssuer() = default;
  virtual Task<Result<std::string>> sign(Object claims) = 0;
  // The maximum validity of tokens; 0: no limit.
  virtual std::int64_t longest_seconds() const noexcept { return 0; }
};

std::shared_ptr<TokenIssuer> make_file_issuer(std::shared_ptr<const kit::TokenSigner> signer);
std::shared_ptr<TokenIssuer> make_external_issuer(std::shared_ptr<kit::ExternalSigner> signer);

// The signer of --service-account-signing-endpoint, started by a post-start hook; null without the flag.
// Errors: an endpoint for which no client can be made; a post-start hook of the same name that is registered already.
Result<std::shared_ptr<kit::ExternalSigner>> external_signer(Host& host);

}  // namespace backplane::core
