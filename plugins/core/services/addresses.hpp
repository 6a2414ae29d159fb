// Allocates cluster addresses. Each address in use has an IPAddress object of networking.k8s.io/v1. The name of the object is the address,
// and the object refers to the service. The object is created in the transaction that stores the service. Therefore any number of servers
// can allocate addresses, and the IPAddresses that clients list are exactly the allocated addresses.
//
// Thread-safety: any executor.
// Lifetime:      shares the storage of the objects, which is looked up at the first use.
// Errors:        those of the storage.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "services/allocation_metrics.hpp"
#include "services/free_addresses.hpp"
#include "services/service_ranges.hpp"

namespace backplane::core {

class Addresses {
 public:
  // The storage of the objects: the served one, or a private one if no plugin serves them.
  using FindStore = std::function<std::shared_ptr<StandardStorage>()>;

  Addresses(std::shared_ptr<ServiceRanges> ranges, FindStore find_store)
      : ranges_(std::move(ranges)), store_(std::make_unique<LateStore>(std::move(find_store))) {}

  // The address of the service `kubernetes`.
  std::string first_address() const { return ranges_->flags().front().address(1); }
  std::string_view default_family() const { return ranges_->flags().front().family(); }
  std::size_t families() const noexcept { return ranges_->flags().size(); }
  // Returns true if the cluster has ranges of the family.
  bool has_family(std::string_view family) const;
  const ServiceRanges& ranges() const noexcept { return *ranges_; }
  const std::shared_ptr<ServiceRanges>& shared_ranges() const noexcept { return ranges_; }
  StandardStorage& store() const;

  // Returns the object of an address; null: the address is free. If `newest`, reads from the store, otherwise from this server's cache.
  Task<Result<ObjectRef>> find(std::string address, bool newest) const;
  // Returns an address of the family that is free according to this server's cache; empty: none is left. In a range that is nearly full,
  // returns one of the addresses that were free when all allocated addresses were last read.
  Task<Result<std::string>> pick(std::string family) const;
  // Makes addresses available to pick() that were picked but not used, or that were released.
  void release(const std::vector<std::string>& addresses) const;
  // ---- metrics
  // Counts the addresses that a stored write has allocated (`taken`) and released (`given`).
  void note_used(const std::vector<std::string>& taken, const std::vector<std::string>& given) const;
  // Sets the counts to the addresses in use that a repair pass has read.
  void note_all_used(const std::vector<std::string>& addresses) const;
  // Counts an address that a client requested, and whether it was allocated.
  void count(const std::string& address, std::string_view scope, bool allocated) const;
  // Counts the result of pick().
  void count_picked(const std::string& family, const std::string& address, std::chrono::nanoseconds took) const;

  // The number of reads of all allocated addresses.
  std::uint64_t looks_for_test() const noexcept { return state_->looks.load(); }
  // The object that allocates `address` to a service.
  static Object object(std::string_view address, std::string_view ns, std::string_view name);
  // Returns true if `object` allocates its address to that service.
  static bool belongs_to(const Object& object, std::string_view ns, std::string_view name);
  // is_ours(): the object has the label of the allocator that manages it. is_labelled(): it also has the correct label of its family.
  static bool is_labelled(const Object& object);
  static bool is_ours(const Object& object);

 private:
  struct LateStore {
    explicit LateStore(FindStore find_store) : find(std::move(find_store)) {}
    const FindStore find;
    std::once_flag once;
    std::shared_ptr<StandardStorage> store;
  };
  struct State {
    FreeAddresses free;
    std::atomic<std::uint64_t> looks{0};
    UsedAddresses used;
  };
  Task<Result<std::string>> pick_in(const AddressRange& range) const;
  Task<Result<std::string>> pick_known(const AddressRange& range) const;
  Task<Result<std::string>> guess(const AddressRange& range) const;
  Task<Status> look(const AddressRange& range) const;

  std::shared_ptr<ServiceRanges> ranges_;
  std::unique_ptr<LateStore> store_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

// The configuration of a private storage of the objects, for use if no plugin serves them.
Result<ResourceConfig> address_config();

}  // namespace backplane::core
