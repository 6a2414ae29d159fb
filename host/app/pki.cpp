#include "app/pki.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "app/flag_files.hpp"
#include "app/flag_values.hpp"
#include "app/kubeconfig.hpp"
#include "app/paths.hpp"
#include "app/service_ranges.hpp"

namespace backplane {
namespace {

using std::chrono::hours;
constexpr hours kYear{24 * 365};

KeyPairFiles files_of(const std::string& directory, const std::string& name) {
  return {directory + "/" + name + ".crt", directory + "/" + name + ".key"};
}

bool is_unspecified(const std::string& address) { return address == "0.0.0.0" || address == "::"; }

// The kubernetes service's address.
std::string service_address(const Options& options) { return first_service_address(service_range(options)); }

CertificateSpec authority_spec() {
  CertificateSpec spec;
  spec.use = CertificateUse::kAuthority;
  spec.common_name = "backplane-ca";
  spec.lifetime = 10 * kYear;
  return spec;
}

CertificateSpec admin_spec() {
  CertificateSpec spec;
  spec.use = CertificateUse::kClient;
  spec.common_name = "kubernetes-admin";
  spec.organizations = {"system:masters"};
  return spec;
}

CertificateSpec serving_spec(const Options& options) {
  CertificateSpec spec;
  spec.use = CertificateUse::kServer;
  spec.common_name = "kube-apiserver";
  std::set<std::string> dns{"kubernetes.default.svc", "kubernetes.default", "kubernetes", "localhost",
                            "kubernetes.default.svc.cluster.local"};
  std::set<std::string> ips{"127.0.0.1", "::1"};
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0') dns.insert(host.data());
  std::vector<std::string> names = options.backplane.more_names;
  for (const auto& name : {options.secure_serving.bind_address, options.generic.advertise_address, options.generic.external_hostname,
                           service_address(options)}) {
    names.push_back(name);
  }
  for (const auto& name : names) {
    if (name.empty() || is_unspecified(name)) continue;
    (flag_value_problem(FlagType::kIp, name).empty() ? ips : dns).insert(name);
  }
  spec.dns_names.assign(dns.begin(), dns.end());
  spec.ip_addresses.assign(ips.begin(), ips.end());
  return spec;
}

// "cert,key" or "cert,key:name,name".
SniCertificate parse_sni(const std::string& text) {
  SniCertificate pair;
  const auto comma = text.find(',');
  const auto colon = text.find(':', comma);
  pair.files.certificate = text.substr(0, comma);
  pair.files.key = text.substr(comma + 1, colon == std::string::npos ? colon : colon - comma - 1);
  if (colon != std::string::npos) pair.names = split_list(std::string_view(text).substr(colon + 1));
  return pair;
}

// The certificate of the loopback name, followed by the certificate of its authority.
Result<SniCertificate> loopback_certificate() {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  CertificateSpec spec;
  spec.use = CertificateUse::kAuthority;
  spec.common_name = std::string(kLoopbackName) + "-ca@" + std::to_string(now);
  spec.lifetime = kLoopbackLifetime;
  auto authority = issue_certificate(spec, nullptr);
  if (!authority.ok()) return std::move(authority.status());
  spec.use = CertificateUse::kServer;
  spec.common_name = std::string(kLoopbackName) + "@" + std::to_string(now);
  spec.dns_names = {std::string(kLoopbackName)};
  auto pair = issue_certificate(spec, &*authority);
  if (!pair.ok()) return std::move(pair.status());
  SniCertificate certificate;
  certificate.names = spec.dns_names;
  certificate.certificate_pem = pair->certificate_pem + authority->certificate_pem;
  certificate.key_pem = std::move(pair->key_pem);
  return certificate;
}

// Connections must leave descriptors for the store, the logs, plugins and listeners.
constexpr std::size_t kReservedFiles = 1024;

// The maximum number of connections: each needs a descriptor, and further connections are closed at once.
std::size_t connection_bound(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const auto files = static_cast<std::size_t>(limit.rlim_cur);
  return std::min(wanted, files > 2 * kReservedFiles ? files - kReservedFiles : files / 2);
}

ServingOptions serving_options(const Options& options) {
  const auto& from = options.secure_serving;
  ServingOptions serving;
  serving.bind_address = from.bind_address;
  serving.port = static_cast<std::uint16_t>(from.secure_port);
  serving.reuse_port = from.permit_port_sharing;
  serving.disable_http2 = from.disable_http2;
  serving.cipher_suites = from.tls_cipher_suites;
  serving.curve_preferences = from.curves();
  if (!from.tls_min_version.empty()) serving.min_tls_version = from.tls_min_version;
  if (from.http2_max_streams_per_connection > 0) {
    serving.limits.h2_max_concurrent_streams = static_cast<std::uint32_t>(from.http2_max_streams_per_connection);
  }
  for (const auto& pair : from.tls_sni_cert_key) serving.sni_certificates.push_back(parse_sni(pair));
  serving.max_connections = connection_bound(serving.max_connections);
  // Rotated certificates are used within this time; the cost is negligible.
  serving.reload_interval = std::chrono::seconds(2);
  return serving;
}

// Whether --cert-dir holds a serving certificate that this server has not generated.
Result<bool> has_foreign_pair(const KeyPairFiles& files, const KeyPair& authority) {
  const bool certificate = std::filesystem::exists(files.certificate), key = std::filesystem::exists(files.key);
  if (!certificate && !key) return false;
  if (!certificate || !key) {
    const std::string& there = certificate ? files.certificate : files.key;
    const std::string& missing = certificate ? files.key : files.certificate;
    return internal_error("--cert-dir: " + there + " exists without " + missing + "; add the missing file, or remove the other one");
  }
  auto text = read_file(files.certificate);
  if (!text.ok()) return std::move(text.status());
  return !is_issued_by(*text, authority);
}

}  // namespace

Result<ServerPki> prepare_pki(const Options& options) {
  // Checked before the first file is used, so that the error names the flag.
  Problems problems;
  check_flag_files(options, problems);
  if (!problems.empty()) return problems_error(problems);
  const std::string directory = options.backplane.data_dir + "/pki";
  if (Status status = make_private_directory(directory); !status.ok()) return status;
  ServerPki pki;
  const KeyPairFiles authority_files = files_of(directory, "ca");
  auto authority = ensure_certificate(authority_files, authority_spec(), nullptr);
  if (!authority.ok()) return std::move(authority.status());
  pki.authority = std::move(*authority);
  auto admin = ensure_certificate(files_of(directory, "admin"), admin_spec(), &pki.authority);
  if (!admin.ok()) return std::move(admin.status());
  pki.admin = std::move(*admin);

  pki.token_key_file = options.flags.text("service-account-signing-key-file").value_or("");
  if (pki.token_key_file.empty() && options.flags.text("service-account-signing-endpoint").value_or("").empty()) {
    pki.token_key_file = directory + "/sa.key";
    if (Status status = ensure_key(pki.token_key_file); !status.ok()) return status;
  }
  pki.serving = serving_options(options);
  // It is inserted as the first SNI certificate, because its name is reserved.
  auto loopback = loopback_certificate();
  if (!loopback.ok()) return std::move(loopback.status());
  pki.serving.sni_certificates.insert(pki.serving.sni_certificates.begin(), std::move(*loopback));
  pki.serving.client_ca_file = authority_files.certificate;
  if (!options.authentication.client_ca_file.empty()) pki.serving.more_client_ca_files.push_back(options.authentication.client_ca_file);
  pki.serving.proxy_ca_file = options.authentication.request_header.client_ca_file;
  if (!options.secure_serving.tls_cert_file.empty()) {
    pki.serving.certificate = {options.secure_serving.tls_cert_file, options.secure_serving.tls_private_key_file};
    pki.foreign_certificate_file = options.secure_serving.tls_cert_file;
    return pki;
  }
  pki.serving.certificate = files_of(options.secure_serving.cert_dir, "apiserver");
  if (options.secure_serving.cert_dir != directory) {
    auto foreign = has_foreign_pair(pki.serving.certificate, pki.authority);
    if (!foreign.ok()) return std::move(foreign.status());
    if (*foreign) {
      pki.foreign_certificate_file = pki.serving.certificate.certificate;
      return pki;
    }
  }
  auto serving = ensure_certificate(pki.serving.certificate, serving_spec(options), &pki.authority);
  if (!serving.ok()) return std::move(serving.status());
  return pki;
}

Result<bool> renew_certificates(const Options& options, ServerPki& pki, std::uint16_t port) {
  bool renewed = false;
  auto admin = ensure_certificate(files_of(options.backplane.data_dir + "/pki", "admin"), admin_spec(), &pki.authority);
  if (!admin.ok()) return std::move(admin.status());
  if (admin->certificate_pem != pki.admin.certificate_pem) {
    pki.admin = std::move(*admin);
    if (auto path = write_admin_kubeconfig(options, pki, port); !path.ok()) return std::move(path.status());
    renewed = true;
  }
  if (!pki.foreign_certificate_file.empty()) return renewed;
  const auto former = read_file(pki.serving.certificate.certificate);
  auto serving = ensure_certificate(pki.serving.certificate, serving_spec(options), &pki.authority);
  if (!serving.ok()) return std::move(serving.status());
  return renewed || !former.ok() || *former != serving->certificate_pem;
}

std::string local_url(const Options& options, std::uint16_t port) {
  std::string host = options.secure_serving.bind_address;
  if (is_unspecified(host)) host = host == "::" ? "::1" : "127.0.0.1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "https://" + host + ":" + std::to_string(port);
}

Result<std::string> write_admin_kubeconfig(const Options& options, const ServerPki& pki, std::uint16_t port) {
  KubeconfigParts parts;
  parts.server = local_url(options, port);
  parts.ca_pem = pki.authority.certificate_pem;
  // If the serving certificate is of another authority, clients trust the certificates in its file and those in --client-ca-file.
  for (const auto& file : {pki.foreign_certificate_file, options.authentication.client_ca_file}) {
    if (file.empty() || pki.foreign_certificate_file.empty()) continue;
    auto text = read_file(file);
    if (!text.ok()) return std::move(text.status());
    parts.ca_pem += *text;
  }
  parts.client_certificate_pem = pki.admin.certificate_pem;
  parts.client_key_pem = pki.admin.key_pem;
  const std::string path = options.backplane.data_dir + "/admin.kubeconfig";
  if (Status status = write_file_atomically(path, make_kubeconfig(parts), 0600); !status.ok()) return status;
  return path;
}

}  // namespace backplane
