#include "tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "backplane/net/openssl_reason.hpp"

namespace backplane::etcd {
namespace {

constexpr std::array<unsigned char, 3> kProtocols = {2, 'h', '2'};
constexpr std::size_t kPiece = 16 * 1024;

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> buffer{};
  return inet_pton(AF_INET, host.c_str(), buffer.data()) == 1 || inet_pton(AF_INET6, host.c_str(), buffer.data()) == 1;
}

// A key that is kept under a passphrase is refused, not asked for at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

std::string newest_error() { return openssl_reason("the peer closed the connection"); }

}  // namespace

std::unique_ptr<Tls> Tls::make(const Settings& settings, const std::string& host, std::string& error) {
  std::unique_ptr<Tls> made(new Tls);
  ERR_clear_error();
  error = made->use(settings, host);
  if (!error.empty()) made.reset();
  return made;
}

std::string Tls::use(const Settings& settings, const std::string& host) {
  context_ = SSL_CTX_new(TLS_client_method());
  if (context_ == nullptr) return newest_error();
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_default_passwd_cb(context_, no_passphrase);
  const std::string& authorities = settings.authorities_file;
  const int trusted = authorities.empty() ? SSL_CTX_set_default_verify_paths(context_)
                                          : SSL_CTX_load_verify_locations(context_, authorities.c_str(), nullptr);
  if (trusted != 1) return authorities + ": " + newest_error();
  if (!settings.certificate_file.empty()) {
    if (SSL_CTX_use_certificate_chain_file(context_, settings.certificate_file.c_str()) != 1)
      return settings.certificate_file + ": " + newest_error();
    if (SSL_CTX_use_PrivateKey_file(context_, settings.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
      return settings.key_file + ": " + newest_error();
  }
  ssl_ = SSL_new(context_);
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (ssl_ == nullptr || in == nullptr || out == nullptr) return newest_error();
  SSL_set_bio(ssl_, in, out);
  SSL_set_connect_state(ssl_);
  SSL_set_alpn_protos(ssl_, kProtocols.data(), kProtocols.size());
  return expect(host) ? "" : "TLS: no certificate can be for " + host;
}

// As Go's clients verify: by the alternative names alone, and whatever the file of authorities holds is trusted, roots or not.
bool Tls::expect(std::string host) {
  X509_VERIFY_PARAM* const verified = SSL_get0_param(ssl_);
  X509_VERIFY_PARAM_set_flags(verified, X509_V_FLAG_PARTIAL_CHAIN);
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(verified, host.c_str()) == 1;
  if (host.ends_with('.')) host.pop_back();
  // OpenSSL takes "no name" for "any", and a dot before it for "anything below".
  if (host.empty() || host.starts_with('.')) return false;
  SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl_, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl_, host.c_str()) == 1;
}

Tls::~Tls() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
}

std::string Tls::failure() const {
  const long verified = SSL_get_verify_result(ssl_);
  if (verified == X509_V_OK) return "TLS: " + newest_error();
  ERR_clear_error();
  return std::string("TLS: certificate of the server: ") + X509_verify_cert_error_string(verified);
}

void Tls::drain(std::string& out) {
  BIO* const written = SSL_get_wbio(ssl_);
  for (std::size_t waiting = BIO_ctrl_pending(written); waiting > 0; waiting = BIO_ctrl_pending(written)) {
    const std::size_t had = out.size();
    out.resize(had + waiting);
    const int count = BIO_read(written, out.data() + had, static_cast<int>(waiting));
    out.resize(had + static_cast<std::size_t>(std::max(count, 0)));
    if (count <= 0) return;
  }
}

std::string Tls::go_on() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done != 1) {
    const int why = SSL_get_error(ssl_, done);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? "" : failure();
  }
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &protocol, &size);
  if (size != 2) return "TLS: the other side does not speak HTTP/2";
  established_ = true;
  return "";
}

std::string Tls::begin(std::string& out) {
  std::string error = go_on();
  drain(out);
  return error;
}

std::string Tls::receive(std::string_view bytes, std::string& plain, std::string& out) {
  BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
  std::string error;
  if (!established_) error = go_on();
  while (error.empty() && established_) {
    ERR_clear_error();
    const std::size_t had = plain.size();
    plain.resize(had + kPiece);
    const int count = SSL_read(ssl_, plain.data() + had, static_cast<int>(kPiece));
    plain.resize(had + static_cast<std::size_t>(std::max(count, 0)));
    if (count > 0) continue;
    const int why = SSL_get_error(ssl_, count);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) error = failure();
    break;
  }
  drain(out);
  return error;
}

std::string Tls::send(std::string_view plain, std::string& out) {
  std::string error;
  if (!plain.empty()) {
    ERR_clear_error();
    if (SSL_write(ssl_, plain.data(), static_cast<int>(plain.size())) <= 0) error = failure();
  }
  drain(out);
  return error;
}

}  // namespace backplane::etcd
