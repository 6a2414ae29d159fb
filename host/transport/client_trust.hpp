// The client certificate authorities that the server trusts at present, and the verification of client certificates against them.
//
// A certificate is verified at the first request of its connection. It is verified again when the authorities have changed or a minute has
// passed, because a certificate that is no longer valid must not be accepted until its connection closes. (Upstream's x509 authenticator
// verifies the certificate for every request.)
//
// Thread-safety: any thread.
// Lifetime:      shared by the TlsContexts of a server and by the peers of its connections.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "http/session.hpp"
#include "transport/openssl_ptr.hpp"

namespace backplane {

using StorePtr = std::shared_ptr<X509_STORE>;

class ClientTrust {
 public:
  // Returns the object that verifies the certificates of front proxies.
  const std::shared_ptr<ClientTrust>& front_proxies() {
    std::lock_guard lock(mutex_);
    if (!front_proxies_) front_proxies_ = std::make_shared<ClientTrust>();
    return front_proxies_;
  }
  // Sets the authorities; null: no certificate is trusted.
  void use(StorePtr store);
  // Returns the number of calls of use().
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // Returns true if `leaf` is a client certificate that one of the authorities has issued. `chain`: the certificates that the client sent
  // in addition; may be null.
  bool verifies(X509* leaf, STACK_OF(X509) * chain) const;

 private:
  mutable std::mutex mutex_;
  StorePtr store_;
  std::shared_ptr<ClientTrust> front_proxies_;  // does not change once it is set
  std::atomic<std::uint64_t> generation_{0};
};

// A callback for SSL_CTX_set_session_ticket_cb(): stores the certificate chain of the client in its session ticket. The chain is needed to
// verify the client again after it has resumed the session.
int keep_chain_in_ticket(SSL* ssl, void*);

// Returns the object that verifies the certificate of `ssl`'s peer; null if the peer has sent no certificate.
std::shared_ptr<const PeerTrust> verify_peer(SSL* ssl, std::shared_ptr<const ClientTrust> trust);

}  // namespace backplane
