#include "backplane/kit/content_hash.hpp"

#include <openssl/evp.h>

#include <new>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

ContentDigest content_digest(std::string_view content) {
  ContentDigest out{};
  if (EVP_Digest(content.data(), content.size(), out.data(), nullptr, EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  return out;
}

std::string content_hash(std::string_view content) {
  if (content.empty()) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "sha256:";
  for (const unsigned char byte : content_digest(content)) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
