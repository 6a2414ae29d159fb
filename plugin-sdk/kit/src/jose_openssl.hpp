// OpenSSL's algorithms and curves, and one digest operation for signing and verifying; shared by the JOSE source files.
//
// Thread-safety: pure functions.
#pragma once

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/kit/jose_algorithm.hpp"
#include "backplane/net/openssl_ptr.hpp"

namespace backplane::kit {

using DigestPtr = std::unique_ptr<EVP_MD_CTX, OpenSslDeleter<EVP_MD_CTX_free>>;
using EcSignaturePtr = std::unique_ptr<ECDSA_SIG, OpenSslDeleter<ECDSA_SIG_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, OpenSslDeleter<BN_free>>;

struct JoseCurve {
  int bits;
  std::string_view name;  // the value of `crv`
  const char* group;      // the name in OpenSSL
  JoseAlgorithm algorithm;
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(bits + 7) / 8; }
};
inline constexpr std::array<JoseCurve, 3> kJoseCurves{{{256, "P-256", "prime256v1", JoseAlgorithm::kES256},
                                                       {384, "P-384", "secp384r1", JoseAlgorithm::kES384},
                                                       {521, "P-521", "secp521r1", JoseAlgorithm::kES512}}};

// Returns the curve of a key; null for RSA keys and for other curves.
inline const JoseCurve* jose_curve(const EVP_PKEY* key) {
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return nullptr;
  char group[64] = {};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(const_cast<EVP_PKEY*>(key), group, sizeof group, &size) != 1) return nullptr;
  for (const JoseCurve& curve : kJoseCurves) {
    if (std::string_view(group, size) == curve.group) return &curve;
  }
  return nullptr;
}

inline const EVP_MD* jose_digest(JoseAlgorithm algorithm) {
  constexpr std::array<const EVP_MD* (*)(), 3> kDigests{EVP_sha256, EVP_sha384, EVP_sha512};
  return kDigests[static_cast<std::size_t>(algorithm) % kDigests.size()]();
}

inline bool jose_pss(JoseAlgorithm algorithm) { return algorithm >= JoseAlgorithm::kPS256 && algorithm <= JoseAlgorithm::kPS512; }

// Sets the padding of RSASSA-PSS. As in Go, the salt has the size of the digest when signing, and may have any size when verifying.
inline bool set_jose_padding(EVP_PKEY_CTX* context, JoseAlgorithm algorithm, bool signing) {
  if (!jose_pss(algorithm)) return true;
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, signing ? RSA_PSS_SALTLEN_DIGEST : RSA_PSS_SALTLEN_AUTO) == 1;
}

}  // namespace backplane::kit
