#include "backplane/kit/server_identity.hpp"

#include <openssl/evp.h>
#include <unistd.h>

#include <array>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

void append_prefixed(std::string& out, std::string_view text) {
  out.push_back(static_cast<char>(text.size() >> 8));
  out.push_back(static_cast<char>(text.size() & 0xFF));
  out.append(text);
}

// Returns `bytes` in base32 (RFC 4648), in lower case and without padding.
std::string base32(const unsigned char* bytes, std::size_t size) {
  static constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out;
  unsigned buffer = 0;
  int bits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    buffer = buffer << 8 | bytes[i];
    for (bits += 8; bits >= 5; bits -= 5) out.push_back(kDigits[buffer >> (bits - 5) & 31]);
  }
  if (bits > 0) out.push_back(kDigits[buffer << (5 - bits) & 31]);
  return out;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

std::string server_id(const std::string& hostname) {
  constexpr std::size_t kHashBytes = 16;
  std::string hashed;
  append_prefixed(hashed, hostname);
  append_prefixed(hashed, kServerKind);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  EVP_Digest(hashed.data(), hashed.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  return "apiserver-" + base32(hash.data(), kHashBytes);
}

std::string PeerAddress::text() const {
  if (!known()) return {};
  return (ip.find(':') == std::string::npos ? ip : "[" + ip + "]") + ":" + port;
}

PeerAddress peer_address(const Host& host) {
  PeerAddress out{host.flag("peer-advertise-ip").value_or(""), host.flag("peer-advertise-port").value_or("")};
  if (out.ip.empty()) out.ip = host.flag("advertise-address").value_or("");
  if (out.port.empty()) out.port = host.flag("secure-port").value_or("");
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
