// Signs JSON Web Tokens with a private key.
//
// Plugins that use this header link OpenSSL::Crypto.
//
// Thread-safety: const; any thread.
// Errors:        kInternalError if the file cannot be read, contains no RSA or EC private key, or signing fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/kit/jose_key.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

class TokenSigner {
 public:
  // Read the first private key of a PEM text: an RSA key (signs with RS256), or an EC key on P-256, P-384 or P-521 (signs with ES256, ES384
  // or ES512).
  static Result<std::shared_ptr<const TokenSigner>> from_file(const std::string& path);
  static Result<std::shared_ptr<const TokenSigner>> from_pem(std::string_view pem);

  // Returns the token header.claims.signature. The header contains `alg` and `kid`. Takes up to a few milliseconds.
  Result<std::string> sign(const Object& claims) const;
  // Like sign() above, with another header. Its `alg` selects the algorithm, which must be one of the key's.
  Result<std::string> sign(const Object& header, std::string_view payload) const;
  const std::string& key_id() const noexcept { return public_key_.id(); }
  std::string_view algorithm() const noexcept { return jose_algorithm_name(public_key_.algorithm()); }
  const PublicKey& public_key() const noexcept { return public_key_; }

 private:
  TokenSigner() = default;
  std::shared_ptr<evp_pkey_st> key_;
  PublicKey public_key_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
