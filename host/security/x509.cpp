#include "security/x509.hpp"

#include <array>
#include <string>

#include "security/users.hpp"

namespace backplane {
namespace {

constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";

UserInfo named_by(const PeerCertificate& certificate) {
  UserInfo user;
  user.name = certificate.common_name;
  user.groups.reserve(certificate.organizations.size() + 1);
  user.groups = certificate.organizations;
  if (!certificate.sha256_fingerprint.empty()) {
    std::vector<std::string> id(1, "X509SHA256=");
    id.front() += certificate.sha256_fingerprint;
    user.extra.emplace_back(kCredentialId, std::move(id));
  }
  return with_authenticated_group(std::move(user));
}

// Of one certificate, which its fingerprint names.
struct Known {
  std::string fingerprint;
  UserRef user;
};

// Connections have many requests, and a thread has few of them at a time.
UserRef user_of(const PeerCertificate& certificate) {
  thread_local std::array<Known, 16> known;
  const std::string& fingerprint = certificate.sha256_fingerprint;
  if (fingerprint.empty()) return named_by(certificate);
  const auto letter = [&fingerprint](std::size_t i) { return static_cast<unsigned char>(fingerprint[i]); };
  Known& here = known[(letter(0) * 7u + letter(fingerprint.size() - 1)) % known.size()];
  if (here.fingerprint != fingerprint) here = {fingerprint, named_by(certificate)};
  return here.user;
}

}  // namespace

Result<std::optional<UserRef>> user_of_certificate(const Exchange& exchange) {
  const PeerCertificate* certificate = exchange.peer_certificate();
  if (certificate == nullptr && exchange.peer_certificate_rejected()) return unauthorized();
  // A certificate without a common name says nothing about its bearer (upstream's CommonNameUserConversion): anonymous, if that is allowed.
  if (certificate == nullptr || certificate->common_name.empty()) return std::optional<UserRef>();
  return std::optional<UserRef>(user_of(*certificate));
}

}  // namespace backplane
