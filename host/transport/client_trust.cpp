#include "transport/client_trust.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;
// How long a result of ClientTrust::verifies() is used. A certificate may be accepted for this long after its own or its authority's
// expiry.
constexpr std::chrono::seconds kVerdictLife{60};

struct StackFree {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using ChainPtr = std::unique_ptr<STACK_OF(X509), StackFree>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, OpenSslDeleter<X509_STORE_CTX_free>>;

// OpenSSL stores only the leaf certificate in a resumed session. keep_chain_in_ticket() has stored the rest of the chain in the ticket.
STACK_OF(X509) * chain_of_ticket(SSL* ssl) {
  void* data = nullptr;
  std::size_t size = 0;
  if (SSL_SESSION_get0_ticket_appdata(SSL_get_session(ssl), &data, &size) != 1 || size == 0) return nullptr;
  ChainPtr chain(sk_X509_new_null());
  const auto* at = static_cast<const unsigned char*>(data);
  const auto* end = at + size;
  while (chain && at < end) {
    X509Ptr certificate(d2i_X509(nullptr, &at, end - at));
    if (!certificate || sk_X509_push(chain.get(), certificate.get()) == 0) break;
    static_cast<void>(certificate.release());
  }
  return chain.release();
}

class VerifiedPeer final : public PeerTrust {
 public:
  VerifiedPeer(X509Ptr leaf, ChainPtr chain, std::shared_ptr<const ClientTrust> trust)
      : leaf_(std::move(leaf)), chain_(std::move(chain)), trust_(std::move(trust)) {}

  bool accepted() const override {
    const std::uint64_t now = trust_->generation();
    std::lock_guard lock(mutex_);
    if (verified_generation_ != now || Clock::now() >= until_) {
      verdict_ = trust_->verifies(leaf_.get(), chain_.get());
      verified_generation_ = now;
      until_ = Clock::now() + kVerdictLife;
    }
    return verdict_;
  }

 private:
  const X509Ptr leaf_;
  const ChainPtr chain_;
  const std::shared_ptr<const ClientTrust> trust_;
  mutable std::mutex mutex_;  // each connection has its own mutex, so there is no contention
  mutable std::uint64_t verified_generation_ = 0;
  mutable Clock::time_point until_{};
  mutable bool verdict_ = false;
};

}  // namespace

void ClientTrust::use(StorePtr store) {
  {
    std::lock_guard lock(mutex_);
    store_ = std::move(store);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

bool ClientTrust::verifies(X509* leaf, STACK_OF(X509) * chain) const {
  StorePtr store;
  {
    std::lock_guard lock(mutex_);
    store = store_;
  }
  if (!store) return false;
  StoreContextPtr context(X509_STORE_CTX_new());
  if (!context || X509_STORE_CTX_init(context.get(), store.get(), leaf, chain) != 1) return false;
  X509_STORE_CTX_set_default(context.get(), "ssl_client");
  // Every certificate of the bundle is a trust anchor, self-signed or not, as in Go.
  X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context.get()), X509_V_FLAG_PARTIAL_CHAIN);
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return good;
}

int keep_chain_in_ticket(SSL* ssl, void*) {
  STACK_OF(X509)* sent = SSL_get_peer_cert_chain(ssl);  // on the server side, OpenSSL's chain does not contain the leaf
  std::string bytes;
  for (int i = 0; i < sk_X509_num(sent); ++i) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(sk_X509_value(sent, i), &der);
    if (size <= 0) continue;
    bytes.append(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
  }
  if (bytes.empty()) return 1;
  return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), bytes.data(), bytes.size());
}

std::shared_ptr<const PeerTrust> verify_peer(SSL* ssl, std::shared_ptr<const ClientTrust> trust) {
  X509Ptr leaf(SSL_get1_peer_certificate(ssl));
  if (!leaf) return nullptr;
  STACK_OF(X509)* sent = SSL_get_peer_cert_chain(ssl);
  ChainPtr chain(sent != nullptr ? X509_chain_up_ref(sent) : chain_of_ticket(ssl));
  return std::make_shared<VerifiedPeer>(std::move(leaf), std::move(chain), std::move(trust));
}

}  // namespace backplane
