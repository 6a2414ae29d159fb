// Public keys that verify tokens, from PEM, DER and JSON Web Keys (RFC 7517), and sets of them.
//
// A key determines the algorithms with which it verifies: an RSA key RS256 to PS512; an EC key the algorithm of its curve (P-256, P-384,
// P-521); a JSON Web Key with the member `alg` only that algorithm. The `alg` of a token selects one of these algorithms and never adds
// one.
//
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
  // Reads a SubjectPublicKeyInfo. The id is public_key_id().
  static Result<PublicKey> from_der(std::string_view der);
  // Reads a JSON Web Key. The id is its `kid`, which may be empty. Private members are ignored.
  static Result<PublicKey> from_jwk(const Object& jwk);
  // Returns the keys of all PEM blocks: public keys, the public parts of private keys, and the keys of certificates. Skips blocks of other
  // types, encrypted keys, and unsupported keys. The ids are public_key_id().
  static std::vector<PublicKey> all_in_pem(std::string_view pem);
  // Shares ownership of an OpenSSL key. The id is public_key_id().
  static Result<PublicKey> from_openssl(std::shared_ptr<evp_pkey_st> key);

  const std::string& id() const noexcept { return id_; }
  void set_id(std::string id) { id_ = std::move(id); }
  JoseAlgorithms algorithms() const noexcept { return algorithms_; }
  // The algorithm with which the key signs by default: RS256, or the algorithm of the curve.
  JoseAlgorithm algorithm() const noexcept { return algorithm_; }
  // True if `signature` is a signature of `text` with `algorithm`, which must be one of algorithms(). An ECDSA signature consists of two
  // numbers of the curve's size (RFC 7518, section 3.4). Takes up to a millisecond.
  bool verify(JoseAlgorithm algorithm, std::string_view text, std::string_view signature) const;
  // Returns the key as a JSON Web Key: use, kty, kid, crv, alg, and the public numbers, in the order of upstream's document.
  Object jwk() const;
  // Returns the key as a SubjectPublicKeyInfo in DER.
  std::string der() const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
  std::string id_;
  JoseAlgorithms algorithms_;
  JoseAlgorithm algorithm_ = JoseAlgorithm::kRS256;
};

// Returns the key id that upstream derives: the SHA-256 of the SubjectPublicKeyInfo in base64url.
std::string public_key_id(const evp_pkey_st* key);

// A set of keys with ids.
class KeySet {
 public:
  // The maximum number of keys in a set. It limits how many signatures are verified for a token without a key id.
  static constexpr std::size_t kMostKeys = 1000;

  KeySet() = default;
  explicit KeySet(std::vector<PublicKey> keys) : keys_(std::move(keys)) {}
  // Reads a JSON Web Key Set. Skips keys of other types, keys for other uses than signatures, and keys for other algorithms.
  // Errors: kBadRequest if the text is not a key set, if an RSA or EC key is malformed, or if there are more than kMostKeys.
  static Result<KeySet> from_jwks(std::string_view text);

  const std::vector<PublicKey>& keys() const noexcept { return keys_; }
  bool empty() const noexcept { return keys_.empty(); }
  // Returns the keys with this id; all keys if `id` is empty. For an unknown id, the result is empty, as upstream.
  std::vector<const PublicKey*> find(std::string_view id) const;

 private:
  std::vector<PublicKey> keys_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
