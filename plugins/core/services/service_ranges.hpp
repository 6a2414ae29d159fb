// The ranges from which cluster addresses are allocated: those of the ServiceCIDR objects of networking.k8s.io/v1, which an informer
// watches; or those of the flags, if there are no such objects or no plugin serves them.
//
// Thread-safety: any thread.
// Lifetime:      a result of now() does not change.
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
    std::vector<AddressRange> all;    // an address outside of them is invalid
    std::vector<AddressRange> ready;  // addresses are allocated from these
  };
  // `flags`: one range per family; the family of the first range is the default family.
  explicit ServiceRanges(std::vector<AddressRange> flags);

  const std::vector<AddressRange>& flags() const noexcept { return flags_; }
  std::shared_ptr<const Now> now() const;
  // Sets the ranges of the objects; if there are none, the ranges of the flags.
  void set(const std::vector<ObjectRef>& service_cidrs);

 private:
  const std::vector<AddressRange> flags_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Now> now_;
};

// Whether one of the ranges contains the address.
bool any_holds(const std::vector<AddressRange>& ranges, std::string_view address);

// Updates `ranges` from the objects until the factory is shut down; no effect if no plugin serves them.
void follow_service_cidrs(Host& host, SharedInformerFactory& informers, std::shared_ptr<ServiceRanges> ranges);

}  // namespace backplane::core
