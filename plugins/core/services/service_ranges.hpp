// The ranges that cluster addresses are given from: those of the ServiceCIDR objects of networking.k8s.io/v1, followed as they come and go,
// and those that the flags name as long as there are no such objects or no plugin serves them.
//
// Thread-safety: any thread.
// Lifetime:      what now() gives stays as it is.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"
#include "services/ranges.hpp"

namespace backplane::core {

class ServiceRanges {
 public:
  struct Now {
    std::vector<AddressRange> all;    // an address outside of them is a mistake
    std::vector<AddressRange> ready;  // addresses are given from these
  };
  // One range a family; the first one's is the default family.
  explicit ServiceRanges(std::vector<AddressRange> flags);

  const std::vector<AddressRange>& flags() const noexcept { return flags_; }
  std::shared_ptr<const Now> now() const;
  // The objects there are; none: the flags' ranges.
  void set(const std::vector<ObjectRef>& service_cidrs);

 private:
  const std::vector<AddressRange> flags_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Now> now_;
};

// Whether one of the ranges gives the address.
bool any_holds(const std::vector<AddressRange>& ranges, std::string_view address);

// Keeps `ranges` with the objects until the factory is shut down; no effect if no plugin serves them.
void follow_service_cidrs(Host& host, SharedInformerFactory& informers, std::shared_ptr<ServiceRanges> ranges);

}  // namespace backplane::core
