// The client certificate authorities that the server trusts now, and the verification of client certificates against them.
//
// A certificate is verified when its connection begins, and again when the authorities have changed or a minute has passed: a certificate
// that is no longer valid must not stay accepted until its connection closes (upstream's x509 authenticator verifies on every request).
//
// Thread-safety: any thread.
// Lifetime:      shared by the contexts made from one set of files and by the peers of their connections.
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
  // The same for the certificates of front proxies.
  const std::shared_ptr<ClientTrust>& front_proxies() {
    std::lock_guard lock(mutex_);
    if (!front_proxies_) front_proxies_ = std::make_shared<ClientTrust>();
    return front_proxies_;
  }
  // Sets the authorities; null: no certificate is trusted.
  void use(StorePtr store);
  // Counts the calls of use().
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  // Whether `leaf` is a client certificate of one of the authorities.  `chain`: what the client sent along; may be null.
  bool verifies(X509* leaf, STACK_OF(X509) * chain) const;

 private:
  mutable std::mutex mutex_;
  StorePtr store_;
  std::shared_ptr<ClientTrust> front_proxies_;  // does not change once it is set
  std::atomic<std::uint64_t> generation_{0};
};

// Stores the chain that a client sent in its session ticket, with which a resumed session is verified again. For
// SSL_CTX_set_session_ticket_cb.
int keep_chain_in_ticket(SSL* ssl, void*);

// The verification of the certificate that `ssl`'s peer has sent; null: it has sent none.
std::shared_ptr<const PeerTrust> judge_peer(SSL* ssl, std::shared_ptr<const ClientTrust> trust);

}  // namespace backplane
