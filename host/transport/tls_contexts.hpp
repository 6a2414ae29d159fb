// The TLS contexts that are made from one state of the certificate files. If a file changes, a new TlsContexts object is built.
//
// Thread-safety: immutable after build().
// Lifetime:      each connection shares the TlsContexts that were current when it was accepted.
// Errors:        the error of build() names the file that cannot be used, and the reason.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "http/session.hpp"
#include "transport/client_trust.hpp"
#include "transport/openssl_ptr.hpp"
#include "transport/serving_options.hpp"
#include "transport/tls_material.hpp"

namespace backplane {

class TlsContexts {
 public:
  // `trust` verifies clients for all TlsContexts that share it. The caller sets the authorities of `trust` when it publishes the new
  // contexts.
  static Result<std::shared_ptr<const TlsContexts>> build(const ServingOptions& options, const TlsMaterial& material,
                                                          std::shared_ptr<ClientTrust> trust);
  TlsContexts(const TlsContexts&) = delete;
  TlsContexts& operator=(const TlsContexts&) = delete;

  // Returns the context with which every handshake begins. choose() may replace it when the client has sent its server name.
  SSL_CTX* initial() const noexcept { return contexts_.front().get(); }
  // Returns the context for `name`: the server name that the client sent, or, if it sent none, the local address of the connection. An
  // exact match has precedence over a wildcard. Without a match, the result is initial().
  SSL_CTX* choose(std::string name) const;
  const std::shared_ptr<ClientTrust>& trust() const noexcept { return trust_; }
  // Returns the authorities of client certificates.
  StorePtr authorities() const;
  // Returns the authorities of front proxies; null if there are none.
  const StorePtr& proxy_authorities() const noexcept { return proxy_authorities_; }

 private:
  explicit TlsContexts(std::shared_ptr<ClientTrust> trust) : trust_(std::move(trust)) {}
  Status add(const ServingOptions& options, const TlsMaterial& material, const TlsMaterial::Group& pair);
  Status add_proxies(const TlsMaterial::Group& bundles);
  void add_names(const std::vector<std::string>& names, SSL_CTX* context);

  std::vector<SslContextPtr> contexts_;  // the context of the serving certificate is the first
  std::map<std::string, SSL_CTX*> by_name_;
  std::shared_ptr<ClientTrust> trust_;
  StorePtr proxy_authorities_;
};

// Returns the client's identity. Called after the handshake.
std::shared_ptr<PeerInfo> peer_info(SSL* ssl, const TlsContexts& contexts, std::string remote_address);

}  // namespace backplane
