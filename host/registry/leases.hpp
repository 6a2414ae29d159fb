// Leases for objects that expire. Objects that are written within a short time share one lease, so that the backend has few leases
// (upstream: etcd3's leaseManager).
//
// Thread-safety: any thread.
// Lifetime:      borrows the backend.
// Errors:        those of the backend's grant_lease.
#pragma once

#include <chrono>
#include <mutex>

#include "backplane/points/storage.hpp"

namespace backplane::registry {

class Leases {
 public:
  // `reuse`: --lease-reuse-duration-seconds; a lease is never shared for longer than a twentieth of an object's life.
  Leases(StorageBackend& storage, std::chrono::seconds reuse) : storage_(storage), reuse_(reuse) {}

  // A lease that lasts for `life` from now on, or longer by at most the smaller of `reuse` and life / 20.
  Task<Result<LeaseId>> lease_for(std::chrono::seconds life);

 private:
  using Time = std::chrono::steady_clock::time_point;
  LeaseId shared(std::chrono::seconds life, std::chrono::seconds extra);

  StorageBackend& storage_;
  const std::chrono::seconds reuse_;
  std::mutex mutex_;
  LeaseId newest_ = 0;
  Time expires_{};
  int objects_ = 0;  // the number of objects that use the newest lease
};

}  // namespace backplane::registry
