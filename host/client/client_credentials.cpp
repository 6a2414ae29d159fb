#include "client/client_credentials.hpp"

#include <openssl/pem.h>

#include <array>

#include "base/file_signature.hpp"
#include "transport/certificates.hpp"
#include "transport/log.hpp"

namespace backplane {
namespace {

struct FileOf {
  std::string ClientConfig::*file;
  std::string ClientConfig::*text;
};
constexpr std::array<FileOf, 4> kFiles = {{{&ClientConfig::certificate_authority_file, &ClientConfig::certificate_authority},
                                           {&ClientConfig::client_certificate_file, &ClientConfig::client_certificate},
                                           {&ClientConfig::client_key_file, &ClientConfig::client_key},
                                           {&ClientConfig::token_file, &ClientConfig::token}}};

bool names_files(const ClientConfig& config) {
  return std::any_of(kFiles.begin(), kFiles.end(), [&](const FileOf& each) { return !(config.*each.file).empty(); });
}

Status tls_problem(const char* what) { return bad_request(std::string(what) + ": " + openssl_error()); }

Status add_authorities(SSL_CTX* context, const ClientConfig& config) {
  const std::string& pem = config.certificate_authority;
  if (pem.empty()) {
    // Reading the system's CAs takes 20 ms.
    if (!config.server.starts_with("https://")) return {};
    return SSL_CTX_set_default_verify_paths(context) == 1 ? Status() : tls_problem("the system's certificate authorities");
  }
  const BioPtr bio = memory_bio(pem);
  int count = 0;
  while (X509Ptr certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.get()) != 1) return tls_problem("a certificate authority");
    ++count;
  }
  if (count == 0) return tls_problem("the certificate authority");
  // Every certificate of the bundle is an anchor, self-signed or not, as in Go.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  ERR_clear_error();  // removes the error that PEM_read_bio_X509 has set at the end of the text
  return {};
}

Status use_certificate(SSL_CTX* context, const ClientConfig& config) {
  if (config.client_certificate.empty()) return {};
  const BioPtr chain = memory_bio(config.client_certificate), key_bio = memory_bio(config.client_key);
  const X509Ptr leaf(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1) return tls_problem("the client certificate");
  while (X509Ptr next{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)}) SSL_CTX_add1_chain_cert(context, next.get());
  ERR_clear_error();
  const KeyPtr key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, no_openssl_password, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return tls_problem("the client key");
  return {};
}

Result<std::shared_ptr<SSL_CTX>> make_context(const ClientConfig& config) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return tls_problem("TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), config.insecure_skip_tls_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!config.insecure_skip_tls_verify) {
    if (Status status = add_authorities(context.get(), config); !status.ok()) return status;
  }
  if (Status status = use_certificate(context.get(), config); !status.ok()) return status;
  const std::string protocols = config.http2 ? std::string("\x02h2\x08http/1.1") : std::string("\x08http/1.1");
  SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(protocols.data()), static_cast<unsigned>(protocols.size()));
  return std::shared_ptr<SSL_CTX>(std::move(context));
}

bool same_tls(const ClientConfig& left, const ClientConfig& right) {
  return left.certificate_authority == right.certificate_authority && left.client_certificate == right.client_certificate &&
         left.client_key == right.client_key;
}

}  // namespace

CredentialFiles::CredentialFiles(ClientConfig config) : config_(std::move(config)), has_files_(names_files(config_)), texts_(config_) {}

Result<std::shared_ptr<CredentialFiles>> CredentialFiles::load(ClientConfig config) {
  const std::shared_ptr<CredentialFiles> files(new CredentialFiles(std::move(config)));
  const std::lock_guard lock(files->mutex_);
  files->due();
  files->seen_ = files->signature();
  if (Status status = files->read(); !status.ok()) return bad_request(status.message());
  return files;
}

// With mutex_ held.
Status CredentialFiles::read() {
  ClientConfig fresh = texts_;
  for (const FileOf& each : kFiles) {
    const std::string& path = config_.*each.file;
    if (path.empty()) continue;
    auto text = read_file(path);
    if (!text.ok()) return std::move(text).status();
    fresh.*each.text = std::move(*text);
  }
  if (!config_.token_file.empty()) fresh.token.erase(fresh.token.find_last_not_of(" \r\n\t") + 1);
  auto now = std::make_shared<ClientCredentials>();
  const auto before = current_.get();
  now->token = fresh.token;
  now->generation = before ? before->generation + 1 : 0;
  if (before != nullptr && same_tls(fresh, texts_)) {
    now->context = before->context;
  } else {
    auto context = make_context(fresh);
    if (!context.ok()) return std::move(context).status();
    now->context = std::move(*context);
  }
  texts_ = std::move(fresh);
  current_.set(std::move(now));
  return {};
}

std::string CredentialFiles::signature() const {
  std::string all;
  for (const FileOf& each : kFiles) all += file_signature(config_.*each.file) + ";";
  return all;
}

bool CredentialFiles::due() {
  if (!has_files_) return false;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto next = next_check_.load();
  if (now.count() < next) return false;
  return next_check_.compare_exchange_strong(next, (now + std::chrono::steady_clock::duration(config_.reload_interval)).count());
}

void CredentialFiles::look() {
  const std::lock_guard lock(mutex_);
  std::string now = signature();
  if (now == seen_) return;
  seen_ = std::move(now);
  const Status status = read();
  if (status.ok()) {
    transport_log().info("new connections of a client use changed files server={}", config_.server);
  } else {
    transport_log().warn("changed files of a client are invalid, the previous ones stay in use server={} error={}", config_.server,
                         status.message());
  }
}

Task<void> CredentialFiles::refresh() {
  auto work = run_blocking([self = shared_from_this()] { self->look(); });
  co_await std::move(work);
}

}  // namespace backplane
