// Key material. The destructor wipes it.
//
// Thread-safety: as std::string.
#pragma once

#include <openssl/crypto.h>

#include <string>
#include <string_view>
#include <utility>

namespace backplane::encryption {

class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::string_view bytes) : bytes_(bytes) {}
  SecretBytes(SecretBytes&& other) noexcept { bytes_.swap(other.bytes_); }
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~SecretBytes() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  std::string_view view() const noexcept { return bytes_; }
  const unsigned char* data() const noexcept { return reinterpret_cast<const unsigned char*>(bytes_.data()); }
  std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::string bytes_;
};

}  // namespace backplane::encryption
