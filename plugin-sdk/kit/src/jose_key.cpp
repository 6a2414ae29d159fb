#include "backplane/kit/jose_key.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "backplane/kit/base64url.hpp"
#include "jose_openssl.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

constexpr int kLeastRsaBits = 1024, kMostRsaBits = 16384;  // the limits of Go and OpenSSL
constexpr int kMostExponentBits = 31;

// Returns a number of the key in base64url; the number has at least `size` bytes.
std::string number_of(const EVP_PKEY* key, const char* name, std::size_t size = 0) {
  BIGNUM* found = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &found) != 1) return {};
  const NumberPtr number(found);
  std::string bytes(std::max(size, static_cast<std::size_t>(BN_num_bytes(found))), '\0');
  BN_bn2binpad(found, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return to_base64url(bytes);
}

// Converts a signature that consists of two numbers of the curve's size to OpenSSL's DER encoding.
std::string der_signature(const JoseCurve& curve, std::string_view plain) {
  if (plain.size() != 2 * curve.bytes()) return {};
  const auto* bytes = reinterpret_cast<const unsigned char*>(plain.data());
  const int half = static_cast<int>(curve.bytes());
  const EcSignaturePtr signature(ECDSA_SIG_new());
  NumberPtr r(BN_bin2bn(bytes, half, nullptr)), s(BN_bin2bn(bytes + half, half, nullptr));
  if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return {};
  (void)r.release();
  (void)s.release();
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return {};
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

bool usable_rsa(const EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  if (bits < kLeastRsaBits || bits > kMostRsaBits) return false;
  BIGNUM* found = nullptr;
  if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &found) != 1) return false;
  const NumberPtr exponent(found);
  return BN_is_odd(found) && !BN_is_one(found) && BN_num_bits(found) <= kMostExponentBits;
}

// Returns the key of one PEM block; null if the block contains none.
KeyPtr read_block(const std::string& block) {
  KeyPtr key(PEM_read_bio_PUBKEY(memory_bio(block).get(), nullptr, no_openssl_password, nullptr));
  if (!key) key.reset(PEM_read_bio_PrivateKey(memory_bio(block).get(), nullptr, no_openssl_password, nullptr));
  if (key) return key;
  const X509Ptr certificate(PEM_read_bio_X509(memory_bio(block).get(), nullptr, no_openssl_password, nullptr));
  if (certificate) key.reset(X509_get_pubkey(certificate.get()));
  return key;
}

std::shared_ptr<EVP_PKEY> shared(KeyPtr key) { return {key.release(), EVP_PKEY_free}; }

std::string der_of(const EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(const_cast<EVP_PKEY*>(key), &der);
  if (size <= 0) return {};
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

}  // namespace

std::string public_key_id(const evp_pkey_st* key) {
  const std::string der = der_of(key);
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(der.data()), der.size(), hash);
  return to_base64url({reinterpret_cast<const char*>(hash), sizeof hash});
}

Result<PublicKey> PublicKey::from_openssl(std::shared_ptr<evp_pkey_st> key) {
  PublicKey out;
  const JoseCurve* const curve = jose_curve(key.get());
  if (curve != nullptr) {
    out.algorithm_ = curve->algorithm;
    out.algorithms_ = {curve->algorithm};
  } else if (key && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA && usable_rsa(key.get())) {
    using enum JoseAlgorithm;
    out.algorithms_ = {kRS256, kRS384, kRS512, kPS256, kPS384, kPS512};
  } else {
    return bad_request("the key is not an RSA key of 1024 to 16384 bits or an EC key on P-256, P-384 or P-521");
  }
  out.id_ = public_key_id(key.get());
  out.key_ = std::move(key);
  return out;
}

Result<PublicKey> PublicKey::from_der(std::string_view der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  KeyPtr key(d2i_PUBKEY(nullptr, &bytes, static_cast<long>(der.size())));
  ERR_clear_error();
  if (!key || bytes != reinterpret_cast<const unsigned char*>(der.data()) + der.size()) {
    return bad_request("the data is not a public key in DER");
  }
  return from_openssl(shared(std::move(key)));
}

std::vector<PublicKey> PublicKey::all_in_pem(std::string_view pem) {
  std::vector<PublicKey> out;
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
  for (auto begin = pem.find(kBegin); begin != std::string_view::npos; begin = pem.find(kBegin, begin + 1)) {
    const auto end = pem.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    const auto line = std::min(pem.find('\n', end), pem.size());
    auto key = from_openssl(shared(read_block(std::string(pem.substr(begin, line - begin)) + "\n")));
    if (key.ok()) out.push_back(std::move(*key));
  }
  ERR_clear_error();
  return out;
}

bool PublicKey::verify(JoseAlgorithm algorithm, std::string_view text, std::string_view signature) const {
  if (!key_ || !algorithms_.contains(algorithm)) return false;
  std::string der;
  if (const JoseCurve* const curve = jose_curve(key_.get())) {
    der = der_signature(*curve, signature);
    if (der.empty()) return false;
    signature = der;
  }
  const DigestPtr context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* operation = nullptr;
  const bool good = context && EVP_DigestVerifyInit(context.get(), &operation, jose_digest(algorithm), nullptr, key_.get()) == 1 &&
                    set_jose_padding(operation, algorithm, false) &&
                    EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                                     reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  if (!good) ERR_clear_error();
  return good;
}

Object PublicKey::jwk() const {
  Object out{{"use", "sig"}};
  const JoseCurve* const curve = jose_curve(key_.get());
  out["kty"] = curve != nullptr ? "EC" : "RSA";
  out["kid"] = id_;
  if (curve != nullptr) out["crv"] = curve->name;
  out["alg"] = jose_algorithm_name(algorithm_);
  if (curve != nullptr) {
    out["x"] = number_of(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, curve->bytes());
    out["y"] = number_of(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, curve->bytes());
  } else {
    out["n"] = number_of(key_.get(), OSSL_PKEY_PARAM_RSA_N);
    out["e"] = number_of(key_.get(), OSSL_PKEY_PARAM_RSA_E);
  }
  return out;
}

std::string PublicKey::der() const { return der_of(key_.get()); }

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
