// The public keys that the process of --service-account-signing-endpoint returns.
//
// Thread-safety: any thread.
// Errors:        there are no keys until the process has responded for the first time.
#pragma once

#include "accounts/account_keys.hpp"
#include "backplane/host.hpp"
#include "backplane/kit/external_signer.hpp"

namespace backplane::authentication {

class ExternalKeys final : public AccountKeys {
 public:
  // Registers a post-start hook that fetches the keys for the first time. Errors: those of the client; kAlreadyExists for the hook.
  static Result<std::shared_ptr<AccountKeys>> make(Host& host, const std::string& path);

  explicit ExternalKeys(std::shared_ptr<kit::ExternalSigner> signer) : signer_(std::move(signer)) {}
  Task<std::shared_ptr<const kit::KeySet>> keys_for(std::string key_id) override;

 private:
  const std::shared_ptr<kit::ExternalSigner> signer_;
};

}  // namespace backplane::authentication
