#include <algorithm>

#include "ciphers/cipher.hpp"
#include "ciphers/openssl_cipher.hpp"
#include "ciphers/secret_bytes.hpp"

namespace backplane::encryption {
namespace {

constexpr std::size_t kBlockBytes = 16;

class AesCbc final : public Cipher {
 public:
  AesCbc(const EVP_CIPHER* algorithm, std::string_view key) : algorithm_(algorithm), key_(key) {}

  // The mode does not authenticate the storage key, so a value can be moved to another storage key.
  Outcome<Done> seal(std::string_view plain, std::string_view, std::string& out) const override {
    const std::size_t begin = out.size();
    out.resize(begin + kBlockBytes + (plain.size() / kBlockBytes + 1) * kBlockBytes);
    char* const iv = out.data() + begin;
    if (auto filled = fill_random(iv, kBlockBytes); !filled.ok()) return filled;
    unsigned char* const sealed = bytes_of(iv + kBlockBytes);
    const CipherContext context(EVP_CIPHER_CTX_new());
    int written = 0, last = 0;
    const bool done = context && EVP_EncryptInit_ex2(context.get(), algorithm_, key_.data(), bytes_of(iv), nullptr) == 1 &&
                      EVP_EncryptUpdate(context.get(), sealed, &written, bytes_of(plain), static_cast<int>(plain.size())) == 1 &&
                      EVP_EncryptFinal_ex(context.get(), sealed + written, &last) == 1;
    if (!done) return Failure{"cipher: encryption failed"};
    return Done();
  }

  Outcome<std::string> open(std::string_view data, std::string_view) const override {
    if (data.size() < kBlockBytes) return Failure{"the stored data was shorter than the required size"};
    const std::string_view sealed = data.substr(kBlockBytes);
    if (sealed.size() % kBlockBytes != 0) return Failure{"the stored data is not a multiple of the block size"};
    std::string plain(sealed.size(), '\0');
    unsigned char rest[EVP_MAX_BLOCK_LENGTH];
    const CipherContext context(EVP_CIPHER_CTX_new());
    int written = 0;
    // The padding is checked here, for upstream's errors.
    const bool done =
        context && EVP_DecryptInit_ex2(context.get(), algorithm_, key_.data(), bytes_of(data), nullptr) == 1 &&
        EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1 &&
        EVP_DecryptUpdate(context.get(), bytes_of(plain.data()), &written, bytes_of(sealed), static_cast<int>(sealed.size())) == 1 &&
        EVP_DecryptFinal_ex(context.get(), rest, &written) == 1;
    if (!done) return Failure{"cipher: decryption failed"};
    return without_padding(std::move(plain));
  }

 private:
  static Outcome<std::string> without_padding(std::string plain) {
    const std::size_t padding = plain.empty() ? 0 : static_cast<unsigned char>(plain.back());
    if (padding == 0 || padding > plain.size()) return Failure{"invalid PKCS7 data (empty or not padded)"};
    const auto begin = plain.end() - static_cast<std::ptrdiff_t>(padding);
    if (std::any_of(begin, plain.end(), [&](char each) { return each != plain.back(); })) return Failure{"invalid padding on input"};
    plain.erase(begin, plain.end());
    return plain;
  }

  const EVP_CIPHER* const algorithm_;
  const SecretBytes key_;
};

}  // namespace

Outcome<CipherRef> make_aes_cbc(std::string_view key) {
  const EVP_CIPHER* const algorithm = aes(AesMode::kCbc, key.size());
  if (algorithm == nullptr) return Failure{"crypto/aes: invalid key size " + std::to_string(key.size())};
  return CipherRef(std::make_shared<AesCbc>(algorithm, key));
}

}  // namespace backplane::encryption
