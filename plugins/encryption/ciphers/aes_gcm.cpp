#include "ciphers/cipher.hpp"
#include "ciphers/openssl_cipher.hpp"
#include "ciphers/secret_bytes.hpp"

namespace backplane::encryption {
namespace {

constexpr std::size_t kNonceBytes = 12, kTagBytes = 16;

int length(std::string_view text) { return static_cast<int>(text.size()); }

class AesGcm final : public Cipher {
 public:
  AesGcm(const EVP_CIPHER* algorithm, std::string_view key) : algorithm_(algorithm), key_(key) {}

  Outcome<Done> seal(std::string_view plain, std::string_view bound_to, std::string& out) const override {
    const std::size_t begin = out.size();
    out.resize(begin + kNonceBytes + plain.size() + kTagBytes);
    char* const nonce = out.data() + begin;
    if (auto filled = fill_random(nonce, kNonceBytes); !filled.ok()) {
      return Failure{"failed to write nonce for AES-GCM: " + filled.failure().text};
    }
    unsigned char* const sealed = bytes_of(nonce + kNonceBytes);
    unsigned char* const tag = sealed + plain.size();
    const CipherContext context(EVP_CIPHER_CTX_new());
    int written = 0;
    const bool done = context && EVP_EncryptInit_ex2(context.get(), algorithm_, key_.data(), bytes_of(nonce), nullptr) == 1 &&
                      add_bound(EVP_EncryptUpdate, context.get(), bound_to) &&
                      EVP_EncryptUpdate(context.get(), sealed, &written, bytes_of(plain), length(plain)) == 1 &&
                      EVP_EncryptFinal_ex(context.get(), tag, &written) == 1 &&
                      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1;
    if (!done) return Failure{"cipher: encryption failed"};
    return Done();
  }

  Outcome<std::string> open(std::string_view data, std::string_view bound_to) const override {
    if (data.size() < kNonceBytes) return Failure{"the stored data was shorter than the required size"};
    if (data.size() < kNonceBytes + kTagBytes) return unauthentic();
    const std::string_view sealed = data.substr(kNonceBytes, data.size() - kNonceBytes - kTagBytes);
    std::string tag(data.substr(data.size() - kTagBytes));
    // EVP_DecryptFinal_ex() writes nothing in this mode, but needs an output buffer.
    std::string plain(sealed.size(), '\0');
    unsigned char rest[EVP_MAX_BLOCK_LENGTH];
    const CipherContext context(EVP_CIPHER_CTX_new());
    int written = 0;
    const bool done = context && EVP_DecryptInit_ex2(context.get(), algorithm_, key_.data(), bytes_of(data), nullptr) == 1 &&
                      add_bound(EVP_DecryptUpdate, context.get(), bound_to) &&
                      EVP_DecryptUpdate(context.get(), bytes_of(plain.data()), &written, bytes_of(sealed), length(sealed)) == 1 &&
                      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
                      EVP_DecryptFinal_ex(context.get(), rest, &written) == 1;
    if (done) return plain;
    OPENSSL_cleanse(plain.data(), plain.size());
    return unauthentic();
  }

 private:
  static Failure unauthentic() { return Failure{"cipher: message authentication failed"}; }
  template <class Update>
  static bool add_bound(Update update, EVP_CIPHER_CTX* context, std::string_view bound_to) {
    int written = 0;
    return bound_to.empty() || update(context, nullptr, &written, bytes_of(bound_to), length(bound_to)) == 1;
  }

  const EVP_CIPHER* const algorithm_;
  const SecretBytes key_;
};

}  // namespace

Outcome<CipherRef> make_aes_gcm(std::string_view key) {
  const EVP_CIPHER* const algorithm = aes(AesMode::kGcm, key.size());
  if (algorithm == nullptr) return Failure{"crypto/aes: invalid key size " + std::to_string(key.size())};
  return CipherRef(std::make_shared<AesGcm>(algorithm, key));
}

}  // namespace backplane::encryption
