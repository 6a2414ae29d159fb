#include "identity_targets.hpp"

#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <set>

#include "backplane/core/text.hpp"
#include "backplane/net/openssl_ptr.hpp"
#include "filters/impersonation_headers.hpp"
#include "require.hpp"
#include "security/x509.hpp"
#include "transport/certificates.hpp"

namespace backplane::fuzz {
namespace {

// A request that has only a client certificate and headers.
class Request final : public Exchange {
 public:
  const PeerCertificate* certificate = nullptr;
  Headers lines;

  std::string_view method() const noexcept override { return "GET"; }
  std::string_view target() const noexcept override { return "/"; }
  int http_major() const noexcept override { return 1; }
  std::string_view header(std::string_view name) const noexcept override {
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const Header& line) { return line.first == name; });
    return found == lines.end() ? std::string_view() : std::string_view(found->second);
  }
  const Headers& headers() const noexcept override { return lines; }
  std::string_view remote_address() const noexcept override { return {}; }
  const PeerCertificate* peer_certificate() const noexcept override { return certificate; }
  Task<Result<std::string>> read_body(std::size_t) override { co_return std::string(); }
  void add_response_header(std::string, std::string) override {}
  void set_response_header(std::string, std::string) override {}
  Task<void> respond(int, std::string_view, std::vector<SharedBytes>) override { co_return; }
  Task<Status> start(int, std::string_view) override { co_return Status(); }
  void set_compressible(bool) override {}
  Task<Status> write(std::vector<SharedBytes>) override { co_return Status(); }
  Task<void> finish() override { co_return; }
  bool started() const noexcept override { return false; }
  int response_code() const noexcept override { return 0; }
  bool closed() const noexcept override { return false; }
  void close_connection_after() override {}
  void abort() override {}
  std::uint64_t add_close_callback(std::function<void()>) override { return 0; }
  void remove_close_callback(std::uint64_t) noexcept override {}
};

// Checks that the user has the names in the certificate, and no other names.
void check_user(const PeerCertificate& certificate, bool with_uid) {
  Request request;
  request.certificate = &certificate;
  const auto user = user_of_certificate(request, with_uid);
  FUZZ_REQUIRE(user.ok() || (with_uid && !certificate.user_ids.empty()));
  if (!user.ok()) return;
  FUZZ_REQUIRE(user->has_value() == !certificate.common_name.empty());
  if (!user->has_value()) return;
  const UserInfo& info = ***user;
  FUZZ_REQUIRE(info.name == certificate.common_name);
  FUZZ_REQUIRE(info.uid == (with_uid && !certificate.user_ids.empty() ? certificate.user_ids.front() : ""));
  for (const std::string& group : info.groups) {
    const auto& named = certificate.organizations;
    FUZZ_REQUIRE(group == "system:authenticated" || std::find(named.begin(), named.end(), group) != named.end());
  }
}

void name(X509_NAME* subject, const char* type, const char* value) {
  X509_NAME_add_entry_by_txt(subject, type, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value), -1, -1, 0);
}

Headers lines_of(std::string_view bytes) {
  Headers out;
  while (!bytes.empty() && out.size() < 100) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    const std::size_t colon = std::min(line.find(": "), line.size());
    out.emplace_back(lower_case(line.substr(0, colon)), line.substr(std::min(colon + 2, line.size())));
  }
  return out;
}

}  // namespace

void client_certificates(std::string_view bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const X509Ptr certificate(d2i_X509(nullptr, &at, static_cast<long>(bytes.size())));
  if (certificate == nullptr) return;
  const PeerCertificate described = describe_certificate(certificate.get());
  FUZZ_REQUIRE(described.sha256_fingerprint.size() == 64);
  (void)certificate_names(certificate.get());
  for (const bool with_uid : {false, true}) check_user(described, with_uid);
}

// The certificate is the same in every run, because the key is fixed and Ed25519 signatures are deterministic.
std::string client_certificate_seed() {
  constexpr unsigned char kKey[32] = {1};
  const KeyPtr key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, kKey, sizeof kKey));
  const X509Ptr certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 7);
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), 1'000'000'000);
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), 2'000'000'000);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  for (const auto& [type, value] :
       {std::pair("O", "system:masters"), std::pair("O", "d\u00e9v"), std::pair("1.3.6.1.4.1.57683.2", "u1"), std::pair("CN", "jane")}) {
    name(subject, type, value);
  }
  X509_set_issuer_name(certificate.get(), subject);
  X509_set_pubkey(certificate.get(), key.get());
  X509_EXTENSION* const names = X509V3_EXT_nconf_nid(nullptr, nullptr, NID_subject_alt_name,
                                                     "DNS:a.example,email:j@example.com,IP:10.0.0.1,IP:fd00::1,URI:spiffe://e/j");
  X509_add_ext(certificate.get(), names, -1);
  X509_EXTENSION_free(names);
  X509_sign(certificate.get(), key.get(), nullptr);
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate.get(), &der);
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(std::max(size, 0)));
  OPENSSL_free(der);
  return out;
}

// Checks that the header with the user's name requests impersonation, that other impersonation headers without it are an error, and that
// without any header there is no impersonation.
void impersonation_headers(std::string_view bytes) {
  Request request;
  request.lines = lines_of(bytes);
  const auto& lines = request.lines;
  const bool any = std::any_of(lines.begin(), lines.end(), [](const Header& line) { return is_impersonation_header(line.first); });
  for (const bool constrained : {false, true}) {
    const auto wanted = wanted_user(request, constrained);
    if (!wanted.ok()) {
      FUZZ_REQUIRE(any && wanted.status().code() == 400 && !wanted.status().message().empty());
      continue;
    }
    FUZZ_REQUIRE(any || !wanted->has_value());
    if (!wanted->has_value()) continue;
    const UserInfo& user = **wanted;
    FUZZ_REQUIRE(!user.name.empty() && user.name == request.header("impersonate-user"));
    const auto groups = std::count_if(lines.begin(), lines.end(), [](const Header& line) { return line.first == "impersonate-group"; });
    FUZZ_REQUIRE(user.groups.size() == static_cast<std::size_t>(groups));
    std::set<std::string> keys;
    for (const auto& [key, values] : user.extra) FUZZ_REQUIRE(keys.insert(key).second && !values.empty());
  }
}

}  // namespace backplane::fuzz
