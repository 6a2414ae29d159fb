// Signs the tokens of service accounts: JSON Web Tokens, by the private key of a file.
//
// Thread-safety: const once made; any thread.
// Errors:        kInternalError when the file cannot be read, holds no key that tokens can be signed with, or signing fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

// What upstream calls a key: the hash of its public half.  `key`: an EVP_PKEY.
std::string key_id_of(const void* key);

class TokenSigner {
 public:
  // A PEM private key: RSA (RS256) or EC over P-256, P-384 or P-521 (ES256, ES384, ES512).
  static Result<std::shared_ptr<const TokenSigner>> from_file(const std::string& path);
  static Result<std::shared_ptr<const TokenSigner>> from_pem(std::string_view pem);

  // header.claims.signature, each in URL-safe base64 without padding.  The header names algorithm and key.
  Result<std::string> sign(const Object& claims) const;
  // What upstream calls the key: the hash of its public half.
  const std::string& key_id() const noexcept { return key_id_; }
  std::string_view algorithm() const noexcept { return algorithm_; }

 private:
  TokenSigner() = default;
  std::shared_ptr<void> key_;  // EVP_PKEY
  std::string_view algorithm_;
  std::string key_id_;
  int part_ = 0;  // bytes of each half of an EC signature; 0: RSA
};

}  // namespace backplane::core
