#include "registry/leases.hpp"

#include <algorithm>

#include "backplane/core/metrics.hpp"

namespace backplane::registry {
namespace {

constexpr int kMaxObjects = 1000;  // the limit of objects per lease, because the backend removes all of them in one write
constexpr int kSharedPart = 20;    // a lease lasts up to 1/20 of the lifetime longer, so that later objects can share it

Metric& counts() {
  static Metric& metric = Metric::histogram("etcd_lease_object_counts", "Objects that shared one lease of the store, when it was replaced.",
                                            {}, {10, 50, 100, 500, 1000, 2500, 5000});
  return metric;
}

}  // namespace

LeaseId Leases::shared(std::chrono::seconds life, std::chrono::seconds extra) {
  std::lock_guard lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  ++objects_;
  const bool usable = newest_ != 0 && now + life < expires_ && now + life + extra > expires_ && objects_ <= kMaxObjects;
  return usable ? newest_ : 0;
}

Task<Result<LeaseId>> Leases::lease_for(std::chrono::seconds life) {
  const std::chrono::seconds extra = std::min(reuse_, life / kSharedPart);
  if (const LeaseId found = shared(life, extra); found != 0) co_return found;
  auto granted = co_await storage_.grant_lease(life + extra);
  if (!granted.ok()) co_return granted;
  std::lock_guard lock(mutex_);
  if (newest_ != 0) counts().observe({}, objects_);
  newest_ = *granted;
  expires_ = std::chrono::steady_clock::now() + life + extra;
  objects_ = 1;
  co_return granted;
}

}  // namespace backplane::registry
