#include "ciphers/openssl_cipher.hpp"

#include <array>

namespace backplane::encryption {
namespace {

using FetchedCipher = std::unique_ptr<EVP_CIPHER, OpenSslDeleter<EVP_CIPHER_free>>;

struct FetchedMode {
  explicit FetchedMode(const char* const (&names)[3])
      : by_size{FetchedCipher(EVP_CIPHER_fetch(nullptr, names[0], nullptr)), FetchedCipher(EVP_CIPHER_fetch(nullptr, names[1], nullptr)),
                FetchedCipher(EVP_CIPHER_fetch(nullptr, names[2], nullptr))} {}
  std::array<FetchedCipher, 3> by_size;
};

const FetchedMode& fetched(AesMode mode) {
  static const FetchedMode gcm({"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"});
  static const FetchedMode cbc({"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"});
  return mode == AesMode::kGcm ? gcm : cbc;
}

}  // namespace

const EVP_CIPHER* aes(AesMode mode, std::size_t key_bytes) {
  const bool known = key_bytes == 16 || key_bytes == 24 || key_bytes == 32;
  return known ? fetched(mode).by_size[key_bytes / 8 - 2].get() : nullptr;
}

}  // namespace backplane::encryption
