#include "security/x509.hpp"

namespace backplane {
namespace {
constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";
}

Result<std::optional<UserInfo>> user_of_certificate(const Exchange& exchange) {
  if (exchange.peer_certificate_rejected()) return unauthorized();
  const PeerCertificate* certificate = exchange.peer_certificate();
  if (certificate == nullptr) return std::optional<UserInfo>();
  // A certificate without a common name says nothing about its bearer (upstream's CommonNameUserConversion): anonymous, if that is allowed.
  if (certificate->common_name.empty()) return std::optional<UserInfo>();
  UserInfo user;
  user.name = certificate->common_name;
  user.groups.reserve(certificate->organizations.size() + 1);
  user.groups = certificate->organizations;
  if (!certificate->sha256_fingerprint.empty()) {
    std::vector<std::string> id(1, "X509SHA256=");
    id.front() += certificate->sha256_fingerprint;
    user.extra.emplace_back(kCredentialId, std::move(id));
  }
  return std::optional<UserInfo>(std::move(user));
}

}  // namespace backplane
