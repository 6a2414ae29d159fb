#include <sodium.h>

#include "ciphers/cipher.hpp"
#include "ciphers/openssl_cipher.hpp"
#include "ciphers/secret_bytes.hpp"

namespace backplane::encryption {
namespace {

constexpr std::size_t kNonceBytes = crypto_secretbox_NONCEBYTES, kTagBytes = crypto_secretbox_MACBYTES;
static_assert(crypto_secretbox_KEYBYTES == kKeyBytes);

// The nonce is longer than that of AES-GCM, so random nonces do not repeat. The storage key is not authenticated.
class Secretbox final : public Cipher {
 public:
  explicit Secretbox(std::string_view key) : key_(key) {}

  Outcome<Done> seal(std::string_view plain, std::string_view, std::string& out) const override {
    const std::size_t begin = out.size();
    out.resize(begin + kNonceBytes + kTagBytes + plain.size());
    char* const nonce = out.data() + begin;
    if (auto filled = fill_random(nonce, kNonceBytes); !filled.ok()) return filled;
    crypto_secretbox_easy(bytes_of(nonce + kNonceBytes), bytes_of(plain), plain.size(), bytes_of(nonce), key_.data());
    return Done();
  }

  Outcome<std::string> open(std::string_view data, std::string_view) const override {
    if (data.size() < kNonceBytes + kTagBytes) return Failure{"the stored data was shorter than the required size"};
    const std::string_view sealed = data.substr(kNonceBytes);
    std::string plain(sealed.size() - kTagBytes, '\0');
    if (crypto_secretbox_open_easy(bytes_of(plain.data()), bytes_of(sealed), sealed.size(), bytes_of(data), key_.data()) == 0) return plain;
    // Upstream's text for a value that is not authentic.
    return Failure{"output array was not large enough for encryption"};
  }

 private:
  const SecretBytes key_;
};

}  // namespace

Outcome<CipherRef> make_secretbox(std::string_view key) {
  if (key.size() != kKeyBytes) return Failure{"expected key size 32 for secretbox provider, got " + std::to_string(key.size())};
  // Selects the implementation for this processor; idempotent.
  if (sodium_init() < 0) return Failure{"libsodium cannot be initialized"};
  return CipherRef(std::make_shared<Secretbox>(key));
}

}  // namespace backplane::encryption
