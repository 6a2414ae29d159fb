// The lease that shows that this server is alive: apiserver-<hash of the host's name> in kube-system, renewed every ten seconds
// (upstream: the hooks …kube-apiserver-identity-lease-controller).
//
// Thread-safety: one executor. start() is a post-start hook, stop() a pre-shutdown hook.
// Lifetime:      shared by the hooks; its task ends when the stop signal fires.
// Errors:        failed writes are logged and retried.
#pragma once

#include <optional>
#include <string>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::coordination {

inline constexpr std::string_view kLeaseNamespace = "kube-system";
inline constexpr std::string_view kIdentityLabel = "apiserver.kubernetes.io/identity";

inline GroupVersionResource leases() { return {"coordination.k8s.io", "v1", "leases"}; }

class IdentityLease {
 public:
  struct Identity {
    std::string hostname;
    std::string peer_address;  // address for other servers; empty: not published
  };
  IdentityLease(Host& host, Identity identity);

  // Removes the lease of a previous server process, and starts a task that creates and renews this server's lease.
  Task<Status> start(PostStartHookContext context);
  // Removes the lease of this object; nothing is written afterwards. An error is only logged, because it must not fail a shutdown.
  Task<Status> stop();

 private:
  Task<void> run(Signal& stop);
  Task<Status> renew();
  Task<Status> remove(DeleteOptions options);
  void set(Object& lease) const;

  Host& host_;
  const Identity identity_;
  const std::string name_;
  const std::string holder_;
  std::optional<ApiClient> client_;  // set by start()
  std::optional<Object> last_;       // the lease as this server has last written or read it
  std::string uid_;                  // the uid of the lease that this object holds; empty: none
  bool busy_ = false;                // a renewal runs
  bool stopped_ = false;
};

}  // namespace backplane::coordination
