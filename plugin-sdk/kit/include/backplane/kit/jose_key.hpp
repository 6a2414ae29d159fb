// Public keys that verify tokens, from PEM, DER and JSON Web Keys (RFC 7517), and sets of them.
//
// A key decides which algorithms it verifies: an RSA key RS256 to PS512, an EC key the algorithm of its curve (P-256, P-384, P-521), a
// JSON Web Key with the member `alg` that algorithm only. The `alg` of a token selects one of these and never adds one.
// Plugins that use this header link OpenSSL::Crypto.
//
// Thread-safety: immutable; any number of threads may verify with one key.
// Lifetime:      a PublicKey shares its OpenSSL key with its copies.
// Errors:        kBadRequest for data that is not a usable key: another type or curve, RSA keys outside 1024 to 16384 bits.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/kit/jose_algorithm.hpp"

struct evp_pkey_st;

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

class PublicKey {
 public:
  // A SubjectPublicKeyInfo. The id is public_key_id().
  static Result<PublicKey> from_der(std::string_view der);
  // A JSON Web Key. The id is its `kid`, which may be empty. Private members are ignored.
  static Result<PublicKey> from_jwk(const Object& jwk);
  // The keys of all PEM blocks: public keys, the public halves of private keys, the keys of certificates. Blocks of other types, encrypted
  // keys and keys of other kinds are skipped. The ids are public_key_id().
  static std::vector<PublicKey> all_in_pem(std::string_view pem);
  // Takes shared ownership of an OpenSSL key. The id is public_key_id().
  static Result<PublicKey> from_openssl(std::shared_ptr<evp_pkey_st> key);

  const std::string& id() const noexcept { return id_; }
  void set_id(std::string id) { id_ = std::move(id); }
  JoseAlgorithms algorithms() const noexcept { return algorithms_; }
  // The algorithm that signs with this key by default: RS256, or that of the curve.
  JoseAlgorithm algorithm() const noexcept { return algorithm_; }
  // True if `signature` is that of `text` by `algorithm`, which must be one of algorithms(). ECDSA signatures are two numbers of the
  // curve's size (RFC 7518, section 3.4). Takes up to a millisecond.
  bool verify(JoseAlgorithm algorithm, std::string_view text, std::string_view signature) const;
  // As a JSON Web Key: use, kty, kid, crv, alg, and the public numbers, in the order of upstream's document.
  Object jwk() const;
  // The key as SubjectPublicKeyInfo, DER.
  std::string der() const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
  std::string id_;
  JoseAlgorithms algorithms_;
  JoseAlgorithm algorithm_ = JoseAlgorithm::kRS256;
};

// The key id that upstream derives: SHA-256 of the SubjectPublicKeyInfo, base64url.
std::string public_key_id(const evp_pkey_st* key);

// Keys by id.
class KeySet {
 public:
  // Most keys in a set. It bounds the signatures that one token without a key id costs.
  static constexpr std::size_t kMostKeys = 1000;

  KeySet() = default;
  explicit KeySet(std::vector<PublicKey> keys) : keys_(std::move(keys)) {}
  // A JSON Web Key Set. Keys of other types, for other uses than signatures, and for other algorithms are skipped.
  // Errors: kBadRequest for text that is not a key set, for a malformed RSA or EC key, for more than kMostKeys.
  static Result<KeySet> from_jwks(std::string_view text);

  const std::vector<PublicKey>& keys() const noexcept { return keys_; }
  bool empty() const noexcept { return keys_.empty(); }
  // The keys with this id; all keys if `id` is empty. Upstream tries no key for an unknown id.
  std::vector<const PublicKey*> find(std::string_view id) const;

 private:
  std::vector<PublicKey> keys_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
