#include "security/x509.hpp"

#include <array>
#include <chrono>
#include <string>

#include "backplane/core/metrics.hpp"
#include "security/log.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";

// Observes the remaining validity of the client certificate. Called for each request.
void observe_expiration(const PeerCertificate& certificate) {
  constexpr double kHour = 3600, kDay = 24 * kHour;
  static Metric& expirations = Metric::histogram("apiserver_client_certificate_expiration_seconds",
                                                 "[ALPHA] Time in seconds that the certificate of a request is still valid.", {},
                                                 {0, kHour / 2, kHour, 2 * kHour, 6 * kHour, 12 * kHour, kDay, 2 * kDay, 4 * kDay, 7 * kDay,
                                                  30 * kDay, 90 * kDay, 180 * kDay, 360 * kDay});
  expirations.observe({}, std::chrono::duration<double>(certificate.not_after - std::chrono::system_clock::now()).count());
}

UserInfo named_by(const PeerCertificate& certificate, bool with_uid) {
  UserInfo user;
  user.name = certificate.common_name;
  if (with_uid && !certificate.user_ids.empty()) user.uid = certificate.user_ids.front();
  user.groups.reserve(certificate.organizations.size() + 1);
  user.groups = certificate.organizations;
  if (!certificate.sha256_fingerprint.empty()) {
    std::vector<std::string> id(1, "X509SHA256=");
    id.front() += certificate.sha256_fingerprint;
    user.extra.emplace_back(kCredentialId, std::move(id));
  }
  return with_authenticated_group(std::move(user));
}

// The user of a certificate. The fingerprint identifies the certificate.
struct Known {
  std::string fingerprint;
  bool with_uid = false;
  UserRef user;
};

// Users are cached for each thread. A connection sends many requests, and a thread has few connections at a time.
UserRef user_of(const PeerCertificate& certificate, bool with_uid) {
  thread_local std::array<Known, 16> known;
  const std::string& fingerprint = certificate.sha256_fingerprint;
  if (fingerprint.empty()) return named_by(certificate, with_uid);
  const auto letter = [&fingerprint](std::size_t i) { return static_cast<unsigned char>(fingerprint[i]); };
  Known& here = known[(letter(0) * 7u + letter(fingerprint.size() - 1)) % known.size()];
  if (here.fingerprint != fingerprint || here.with_uid != with_uid) here = {fingerprint, with_uid, named_by(certificate, with_uid)};
  return here.user;
}

// Returns true if there is no uid, or exactly one that is not empty.
bool has_good_uid(const PeerCertificate& certificate) {
  const auto& ids = certificate.user_ids;
  if (ids.empty() || (ids.size() == 1 && !ids.front().empty())) return true;
  security_log().debug("x509: {} user={:?}", ids.size() == 1 ? "UID cannot be an empty string" : "expected 1 UID, but found multiple",
                       certificate.common_name);
  return false;
}

}  // namespace

Result<std::optional<UserRef>> user_of_certificate(const Exchange& exchange, bool with_uid) {
  const PeerCertificate* certificate = exchange.peer_certificate();
  if (certificate == nullptr && exchange.peer_certificate_rejected()) return unauthorized();
  if (certificate != nullptr) observe_expiration(*certificate);
  // A certificate without a common name identifies no user (upstream's CommonNameUserConversion). The request is then anonymous, if
  // anonymous requests are allowed.
  if (certificate == nullptr || certificate->common_name.empty()) return std::optional<UserRef>();
  if (with_uid && !has_good_uid(*certificate)) return unauthorized();
  return std::optional<UserRef>(user_of(*certificate, with_uid));
}

}  // namespace backplane
