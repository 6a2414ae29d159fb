#include "plugin/content_digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

namespace backplane {
namespace {

std::string hexadecimal(const unsigned char* bytes, unsigned size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

}  // namespace

std::optional<std::string> content_digest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!file || !context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return std::nullopt;
  std::array<char, 64 * 1024> buffer;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    if (EVP_DigestUpdate(context.get(), buffer.data(), static_cast<std::size_t>(file.gcount())) != 1) return std::nullopt;
  }
  if (file.bad()) return std::nullopt;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1) return std::nullopt;
  return hexadecimal(digest.data(), size);
}

}  // namespace backplane
