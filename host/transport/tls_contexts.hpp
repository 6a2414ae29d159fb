// The certificates and TLS settings: an immutable set; a change of a file makes a new set.
//
// Thread-safety: immutable after build().
// Lifetime:      every connection holds the set with which it was accepted.
// Errors:        build() names the file that cannot be used and why.
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
  // `trust` verifies the clients of all sets that share it; the caller that publishes the contexts sets its authorities.
  static Result<std::shared_ptr<const TlsContexts>> build(const ServingOptions& options, const TlsMaterial& material,
                                                          std::shared_ptr<ClientTrust> trust);
  TlsContexts(const TlsContexts&) = delete;
  TlsContexts& operator=(const TlsContexts&) = delete;

  // The context every handshake begins with; the server name the client sends may switch the certificate.
  SSL_CTX* initial() const noexcept { return contexts_.front().get(); }
  // The context for a server name, or, if the client sent none, for the address to which it connected: an exact match, then a wildcard,
  // then the default.
  SSL_CTX* choose(std::string name) const;
  const std::shared_ptr<ClientTrust>& trust() const noexcept { return trust_; }
  // The client certificate authorities of this set.
  StorePtr authorities() const;
  // The authorities of front proxies; null: there are none.
  const StorePtr& proxy_authorities() const noexcept { return proxy_authorities_; }

 private:
  explicit TlsContexts(std::shared_ptr<ClientTrust> trust) : trust_(std::move(trust)) {}
  Status add(const ServingOptions& options, const TlsMaterial& material, const TlsMaterial::Group& pair);
  Status add_proxies(const TlsMaterial::Group& bundles);
  void add_names(const std::vector<std::string>& names, SSL_CTX* context);

  std::vector<SslContextPtr> contexts_;  // the default first
  std::map<std::string, SSL_CTX*> by_name_;
  std::shared_ptr<ClientTrust> trust_;
  StorePtr proxy_authorities_;
};

// The client's identity from the finished handshake.
std::shared_ptr<PeerInfo> peer_info(SSL* ssl, const TlsContexts& contexts, std::string remote_address);

}  // namespace backplane
