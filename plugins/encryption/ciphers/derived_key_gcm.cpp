#include <openssl/core_names.h>
#include <openssl/kdf.h>

#include <array>

#include "ciphers/cipher.hpp"
#include "ciphers/openssl_cipher.hpp"
#include "ciphers/secret_bytes.hpp"

namespace backplane::encryption {
namespace {

using KdfPtr = std::unique_ptr<EVP_KDF, OpenSslDeleter<EVP_KDF_free>>;
using KdfContext = std::unique_ptr<EVP_KDF_CTX, OpenSslDeleter<EVP_KDF_CTX_free>>;

// HKDF-Expand with SHA-256 (RFC 5869, 2.3).
Outcome<SecretBytes> expand(const SecretBytes& seed, std::string_view info) {
  static const KdfPtr hkdf(EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_HKDF, nullptr));
  const KdfContext context(hkdf ? EVP_KDF_CTX_new(hkdf.get()) : nullptr);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 5> parameters = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode), OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<unsigned char*>(seed.data()), seed.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char*>(info.data()), info.size()), OSSL_PARAM_construct_end()};
  std::string key(kKeyBytes, '\0');
  if (!context || EVP_KDF_derive(context.get(), bytes_of(key.data()), key.size(), parameters.data()) != 1) {
    return Failure{"failed to KDF expand seed with info"};
  }
  SecretBytes out(key);
  OPENSSL_cleanse(key.data(), key.size());
  return out;
}

// Keys are not cached: deriving one takes about two microseconds.
class DerivedKeyGcm final : public Cipher {
 public:
  explicit DerivedKeyGcm(std::string_view seed) : seed_(seed) {}

  Outcome<Done> seal(std::string_view plain, std::string_view bound_to, std::string& out) const override {
    std::array<char, kInfoBytes> info;
    if (auto filled = fill_random(info.data(), info.size()); !filled.ok()) {
      return Failure{"failed to generate info for KDF: " + filled.failure().text};
    }
    auto cipher = cipher_of({info.data(), info.size()}, "failed to derive write key from KDF: ");
    if (!cipher.ok()) return cipher.take_failure();
    out.append(info.data(), info.size());
    return (*cipher)->seal(plain, bound_to, out);
  }

  Outcome<std::string> open(std::string_view data, std::string_view bound_to) const override {
    if (data.size() < kInfoBytes) return Failure{"the stored data was shorter than the required size"};
    auto cipher = cipher_of(data.substr(0, kInfoBytes), "failed to derive read key from KDF: ");
    if (!cipher.ok()) return cipher.take_failure();
    return (*cipher)->open(data.substr(kInfoBytes), bound_to);
  }

 private:
  static constexpr std::size_t kInfoBytes = 32;

  Outcome<CipherRef> cipher_of(std::string_view info, std::string_view context) const {
    auto key = expand(seed_, info);
    if (!key.ok()) return Failure{std::string(context) + key.failure().text};
    return make_aes_gcm(key->view());
  }

  const SecretBytes seed_;
};

}  // namespace

Outcome<CipherRef> make_derived_key_gcm(std::string_view seed) {
  if (seed.size() < kKeyBytes) return Failure{"invalid seed length " + std::to_string(seed.size()) + " used for key generation"};
  return CipherRef(std::make_shared<DerivedKeyGcm>(seed));
}

}  // namespace backplane::encryption
