#include "transport/tls_contexts.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
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

// OpenSSL's words for a file that cannot be read help nobody.
Status readable(const std::string& file) {
  if (std::FILE* opened = std::fopen(file.c_str(), "rb")) {
    std::fclose(opened);
    return {};
  }
  return internal_error("open " + file + ": " + std::strerror(errno));
}

Status all_readable(const ServingOptions& options, const KeyPairFiles& files) {
  std::vector<std::string> all{files.certificate, files.key};
  if (!options.client_ca_file.empty()) all.push_back(options.client_ca_file);
  all.insert(all.end(), options.more_client_ca_files.begin(), options.more_client_ca_files.end());
  for (const auto& file : all) {
    if (Status status = readable(file); !status.ok()) return status;
  }
  return {};
}

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

// A key that is encrypted is an error, not a question on the terminal.
int no_password(char*, int, int, void*) { return 0; }

// A client certificate that does not verify does not end the handshake: the request is answered 401 in words.
int accept_any_certificate(int, X509_STORE_CTX*) { return 1; }

Status trust_clients(SSL_CTX* context, const std::string& file) {
  auto* names = SSL_load_client_CA_file(file.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
    if (names != nullptr) sk_X509_NAME_pop_free(names, X509_NAME_free);
    return file_error(file, openssl_error());
  }
  SSL_CTX_set_client_CA_list(context, names);
  // Every certificate of the bundle is an anchor, self-signed or not, as in Go.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, accept_any_certificate);
  return {};
}

Status trust_more_clients(SSL_CTX* context, const std::string& file) {
  if (SSL_add_file_cert_subjects_to_stack(SSL_CTX_get_client_CA_list(context), file.c_str()) == 1 &&
      SSL_CTX_load_verify_file(context, file.c_str()) == 1) {
    return {};
  }
  return file_error(file, openssl_error());
}

Status set_suites(SSL_CTX* context, const ServingOptions& options) {
  std::string list;
  for (const auto& suite : options.cipher_suites) {
    const std::string name = openssl_cipher_name(suite);
    if (name.starts_with("TLS_")) continue;  // TLS 1.3: always on
    list += (list.empty() ? "" : ":") + name;
  }
  if (!options.curve_preferences.empty()) {
    std::string groups;
    for (const int curve : options.curve_preferences) groups += (groups.empty() ? "" : ":") + openssl_group_name(curve);
    if (SSL_CTX_set1_groups_list(context, groups.c_str()) != 1) return internal_error("--tls-curve-preferences: " + openssl_error());
  }
  const char* wanted = list.empty() ? kTls12Suites : list.c_str();
  if (SSL_CTX_set_cipher_list(context, wanted) != 1 || SSL_CTX_set_ciphersuites(context, kTls13Suites) != 1) {
    return internal_error("cipher suites: " + openssl_error());
  }
  return {};
}

void set_policy(SSL_CTX* context, const ServingOptions& options) {
  SSL_CTX_set_min_proto_version(context, tls_version_number(options.min_tls_version));
  SSL_CTX_set_options(context,
                      SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // An idle connection holds no record buffers: 34 KB less each.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
  SSL_CTX_set_num_tickets(context, 1);
  // The argument only says yes or no.
  static int yes = 1;
  SSL_CTX_set_alpn_select_cb(context, select_protocol, options.disable_http2 ? nullptr : &yes);
}

}  // namespace

Status TlsContexts::add(const ServingOptions& options, const KeyPairFiles& files) {
  if (Status status = all_readable(options, files); !status.ok()) return status;
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw std::bad_alloc();
  set_policy(context.get(), options);
  SSL_CTX_set_default_passwd_cb(context.get(), no_password);
  if (Status status = set_suites(context.get(), options); !status.ok()) return status;
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1)
    return file_error(files.certificate, openssl_error());
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) return file_error(files.key, openssl_error());
  if (SSL_CTX_check_private_key(context.get()) != 1) return file_error(files.key, "is not the key of " + files.certificate);
  if (!options.client_ca_file.empty()) {
    if (Status status = trust_clients(context.get(), options.client_ca_file); !status.ok()) return status;
    for (const auto& file : options.more_client_ca_files) {
      if (Status status = trust_more_clients(context.get(), file); !status.ok()) return status;
    }
  }
  SSL_CTX_set_tlsext_servername_callback(context.get(), choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(context.get(), this);
  contexts_.push_back(std::move(context));
  return {};
}

void TlsContexts::add_names(const std::vector<std::string>& names, SSL_CTX* context) {
  for (const auto& name : names) by_name_.try_emplace(lower_case(name), context);  // The first one to claim a name has it.
}

Result<std::shared_ptr<const TlsContexts>> TlsContexts::build(const ServingOptions& options) {
  std::shared_ptr<TlsContexts> made(new TlsContexts);
  if (Status status = made->add(options, options.certificate); !status.ok()) return status;
  for (const auto& pair : options.sni_certificates) {
    if (Status status = made->add(options, pair.files); !status.ok()) return status;
    if (!pair.names.empty()) made->add_names(pair.names, made->contexts_.back().get());
  }
  for (std::size_t i = 0; i < options.sni_certificates.size(); ++i) {
    SSL_CTX* context = made->contexts_[i + 1].get();
    if (options.sni_certificates[i].names.empty()) made->add_names(certificate_names(SSL_CTX_get0_certificate(context)), context);
  }
  return std::shared_ptr<const TlsContexts>(std::move(made));
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

std::vector<std::string> watched_files(const ServingOptions& options) {
  std::vector<std::string> files{options.certificate.certificate, options.certificate.key};
  for (const auto& pair : options.sni_certificates) {
    files.push_back(pair.files.certificate);
    files.push_back(pair.files.key);
  }
  if (!options.client_ca_file.empty()) files.push_back(options.client_ca_file);
  files.insert(files.end(), options.more_client_ca_files.begin(), options.more_client_ca_files.end());
  return files;
}

std::shared_ptr<PeerInfo> peer_info(SSL* ssl, std::string remote_address) {
  auto info = std::make_shared<PeerInfo>();
  info->remote_address = std::move(remote_address);
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return info;
  // Kept with the session, so a resumed one says the same.
  if (SSL_get_verify_result(ssl) != X509_V_OK) {
    info->certificate_rejected = true;
    return info;
  }
  info->has_certificate = true;
  info->certificate = describe_certificate(certificate);
  info->certificate_expires = certificate_expiry(certificate);
  return info;
}

}  // namespace backplane
