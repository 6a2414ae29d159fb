#include "transport/tls_contexts.hpp"

#include <openssl/pem.h>

#include <new>

#include "http/header_text.hpp"
#include "transport/certificates.hpp"

namespace backplane {
namespace {

constexpr char kTls13Suites[] = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr char kTls12Suites[] = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES";
constexpr unsigned char kAlpnBoth[] = "\x02h2\x08http/1.1";
constexpr unsigned char kAlpnHttp1[] = "\x08http/1.1";
constexpr unsigned char kSessionContext[] = "backplane";

Status file_error(const std::string& file, const std::string& why) { return internal_error("\"" + file + "\": " + why); }

int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered, unsigned offered_size,
                    void* arg) {
  const bool http2 = arg != nullptr;
  const unsigned char* ours = http2 ? kAlpnBoth : kAlpnHttp1;
  const unsigned ours_size = http2 ? sizeof kAlpnBoth - 1 : sizeof kAlpnHttp1 - 1;
  // SSL_select_next_proto wants the output pointer without const.
  const int found = SSL_select_next_proto(const_cast<unsigned char**>(out), out_size, ours, ours_size, offered, offered_size);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

int choose_certificate(SSL* ssl, int*, void* arg) {
  const auto& contexts = *static_cast<const TlsContexts*>(arg);
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  const auto* address = static_cast<const std::string*>(SSL_get_app_data(ssl));
  SSL_CTX* chosen = contexts.choose(name != nullptr ? name : address != nullptr ? *address : "");
  if (chosen != SSL_get_SSL_CTX(ssl)) SSL_set_SSL_CTX(ssl, chosen);
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL must not ask for the password on the terminal. An encrypted key is an error.
int no_password(char*, int, int, void*) { return 0; }

// An invalid client certificate does not end the handshake. ClientTrust verifies it at the first request, so that the client gets 401 with
// a message.
int verify_later(X509_STORE_CTX*, void*) { return 1; }

// Returns the next certificate of a PEM text, or null at its end. If the text contains an invalid certificate, the result is null and
// `broken` is true.
X509Ptr next_certificate(BIO* text, bool& broken) {
  X509Ptr certificate(PEM_read_bio_X509(text, nullptr, no_password, nullptr));
  if (!certificate) {
    broken = ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE;
    if (!broken) ERR_clear_error();
  }
  return certificate;
}

// Uses the first certificate as leaf and the others as its chain, like SSL_CTX_use_certificate_chain_file() for a file.
Status use_chain(SSL_CTX* context, const TlsMaterial::File& file) {
  const BioPtr text = memory_bio(file.pem);
  bool broken = false;
  X509Ptr leaf = next_certificate(text.get(), broken);
  if (!leaf) return file_error(file.path, broken ? openssl_error() : "holds no certificate");
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1) return file_error(file.path, openssl_error());
  while (X509Ptr above = next_certificate(text.get(), broken)) {
    if (SSL_CTX_add0_chain_cert(context, above.get()) != 1) return file_error(file.path, openssl_error());
    static_cast<void>(above.release());
  }
  return broken ? file_error(file.path, openssl_error()) : Status();
}

Status use_key(SSL_CTX* context, const TlsMaterial::File& file) {
  const BioPtr text = memory_bio(file.pem);
  const KeyPtr key(PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return file_error(file.path, openssl_error());
  return {};
}

// Adds the certificates of all bundles. Each is a trust anchor, self-signed or not, as in Go (see ClientTrust::verifies()).
Status add_authorities(X509_STORE* store, const TlsMaterial::Group& bundles) {
  for (const auto& file : bundles.files) {
    const BioPtr text = memory_bio(file.pem);
    bool broken = false;
    std::size_t count = 0;
    while (X509Ptr authority = next_certificate(text.get(), broken)) {
      ++count;
      X509_STORE_add_cert(store, authority.get());  // a certificate that is in the store already is no error
    }
    if (broken) return file_error(file.path, openssl_error());
    if (count == 0) return file_error(file.path, "holds no certificate");
  }
  return {};
}

// Adds the authorities in `store` to the list that the server sends when it requests a client certificate.
Status ask_for(SSL_CTX* context, X509_STORE* store) {
  STACK_OF(X509_OBJECT)* objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    X509* authority = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
    if (authority != nullptr && SSL_CTX_add_client_CA(context, authority) != 1) return internal_error(openssl_error());
  }
  return {};
}

Status trust_clients(SSL_CTX* context, const TlsMaterial::Group& bundles) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  if (Status status = add_authorities(store, bundles); !status.ok()) return status;
  if (Status status = ask_for(context, store); !status.ok()) return status;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, verify_later, nullptr);
  SSL_CTX_set_session_ticket_cb(context, keep_chain_in_ticket, nullptr, nullptr);
  return {};
}

Status set_suites(SSL_CTX* context, const ServingOptions& options) {
  std::string list;
  for (const auto& suite : options.cipher_suites) {
    const std::string name = openssl_cipher_name(suite);
    if (name.starts_with("TLS_")) continue;  // set_suites() always enables the TLS 1.3 suites
    list += (list.empty() ? "" : ":") + name;
  }
  if (!options.curve_preferences.empty()) {
    std::string groups;
    for (const int curve : options.curve_preferences) groups += (groups.empty() ? "" : ":") + openssl_group_name(curve);
    if (SSL_CTX_set1_groups_list(context, groups.c_str()) != 1) return internal_error("--tls-curve-preferences: " + openssl_error());
  }
  std::string wanted = list.empty() ? kTls12Suites : list;
  // OpenSSL offers TLS 1.0 and 1.1 at security level 0 only.
  if (tls_version_number(options.min_tls_version) < TLS1_2_VERSION) wanted += ":@SECLEVEL=0";
  if (SSL_CTX_set_cipher_list(context, wanted.c_str()) != 1 || SSL_CTX_set_ciphersuites(context, kTls13Suites) != 1) {
    return internal_error("cipher suites: " + openssl_error());
  }
  return {};
}

void set_policy(SSL_CTX* context, const ServingOptions& options) {
  SSL_CTX_set_min_proto_version(context, tls_version_number(options.min_tls_version));
  SSL_CTX_set_options(context,
                      SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // An idle connection then holds no record buffers, which saves 34 KB for each connection.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
  SSL_CTX_set_num_tickets(context, 1);
  // select_protocol() only tests whether this pointer is null.
  static int yes = 1;
  SSL_CTX_set_alpn_select_cb(context, select_protocol, options.disable_http2 ? nullptr : &yes);
}

}  // namespace

Status TlsContexts::add(const ServingOptions& options, const TlsMaterial& material, const TlsMaterial::Group& pair) {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw std::bad_alloc();
  set_policy(context.get(), options);
  SSL_CTX_set_default_passwd_cb(context.get(), no_password);
  if (Status status = set_suites(context.get(), options); !status.ok()) return status;
  const TlsMaterial::File& certificate = pair.files.front();
  const TlsMaterial::File& key = pair.files.back();
  if (Status status = use_chain(context.get(), certificate); !status.ok()) return status;
  if (Status status = use_key(context.get(), key); !status.ok()) return status;
  if (SSL_CTX_check_private_key(context.get()) != 1) {
    return file_error(key.path, "private key does not match the public key of " + certificate.path);
  }
  if (!material.client_cas().files.empty()) {
    if (Status status = trust_clients(context.get(), material.client_cas()); !status.ok()) return status;
  }
  if (proxy_authorities_) {
    if (Status status = ask_for(context.get(), proxy_authorities_.get()); !status.ok()) return status;
  }
  SSL_CTX_set_tlsext_servername_callback(context.get(), choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(context.get(), this);
  contexts_.push_back(std::move(context));
  return {};
}

Status TlsContexts::add_proxies(const TlsMaterial::Group& bundles) {
  if (bundles.files.empty()) return {};
  proxy_authorities_ = StorePtr(X509_STORE_new(), X509_STORE_free);
  return add_authorities(proxy_authorities_.get(), bundles);
}

void TlsContexts::add_names(const std::vector<std::string>& names, SSL_CTX* context) {
  for (const auto& name : names) by_name_.try_emplace(lower_case(name), context);  // the first certificate with a name is used
}

Result<std::shared_ptr<const TlsContexts>> TlsContexts::build(const ServingOptions& options, const TlsMaterial& material,
                                                              std::shared_ptr<ClientTrust> trust) {
  std::shared_ptr<TlsContexts> made(new TlsContexts(std::move(trust)));
  if (Status status = made->add_proxies(material.proxy_cas()); !status.ok()) return status;
  if (Status status = made->add(options, material, material.serving()); !status.ok()) return status;
  for (std::size_t i = 0; i < options.sni_certificates.size(); ++i) {
    if (Status status = made->add(options, material, material.sni(i)); !status.ok()) return status;
    const auto& names = options.sni_certificates[i].names;
    if (!names.empty()) made->add_names(names, made->contexts_.back().get());
  }
  for (std::size_t i = 0; i < options.sni_certificates.size(); ++i) {
    SSL_CTX* context = made->contexts_[i + 1].get();
    if (options.sni_certificates[i].names.empty()) made->add_names(certificate_names(SSL_CTX_get0_certificate(context)), context);
  }
  return std::shared_ptr<const TlsContexts>(std::move(made));
}

StorePtr TlsContexts::authorities() const {
  X509_STORE* store = SSL_CTX_get_cert_store(initial());
  X509_STORE_up_ref(store);
  return StorePtr(store, X509_STORE_free);
}

SSL_CTX* TlsContexts::choose(std::string name) const {
  name = lower_case(name);
  while (name.ends_with('.')) name.pop_back();
  if (const auto exact = by_name_.find(name); exact != by_name_.end()) return exact->second;
  const std::size_t dot = name.find('.');
  if (dot != std::string::npos) {
    if (const auto wildcard = by_name_.find("*" + name.substr(dot)); wildcard != by_name_.end()) return wildcard->second;
  }
  return initial();
}

std::shared_ptr<PeerInfo> peer_info(SSL* ssl, const TlsContexts& contexts, std::string remote_address) {
  auto info = std::make_shared<PeerInfo>();
  info->remote_address = std::move(remote_address);
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return info;
  info->trust = verify_peer(ssl, contexts.trust());
  if (contexts.proxy_authorities()) info->proxy_trust = verify_peer(ssl, contexts.trust()->front_proxies());
  info->certificate = describe_certificate(certificate);
  info->certificate_expires = certificate_expiry(certificate);
  return info;
}

}  // namespace backplane
