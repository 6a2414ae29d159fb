// Helpers for OpenSSL ciphers. Algorithms are fetched once; EVP_aes_256_gcm() and similar functions would look them up again for each use.
//
// Thread-safety: a CipherContext belongs to one call; aes() from any thread.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "backplane/net/openssl_ptr.hpp"

namespace backplane::encryption {

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, OpenSslDeleter<EVP_CIPHER_CTX_free>>;

enum class AesMode : unsigned char { kGcm, kCbc };
// Returns AES for a key of that size; null for a size other than 16, 24 and 32.
const EVP_CIPHER* aes(AesMode mode, std::size_t key_bytes);

inline const unsigned char* bytes_of(std::string_view text) noexcept { return reinterpret_cast<const unsigned char*>(text.data()); }
inline unsigned char* bytes_of(char* text) noexcept { return reinterpret_cast<unsigned char*>(text); }

}  // namespace backplane::encryption
