// Cluster addresses: the IPAddress objects of networking.k8s.io/v1, one for each address in use, named by it, and saying whose it is.  An
// address is taken by creating its object in the transaction that stores the service, so any number of servers share them, and what clients
// see of IPAddresses is what is allocated.
//
// Thread-safety: any executor.
// Lifetime:      keeps the storage of the objects, which is looked for at the first use.
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

  // The one that the service of the API itself gets.
  std::string first_address() const { return ranges_->flags().front().address(1); }
  std::string_view default_family() const { return ranges_->flags().front().family(); }
  std::size_t families() const noexcept { return ranges_->flags().size(); }
  // Whether the cluster has the family.
  bool has_family(std::string_view family) const;
  const ServiceRanges& ranges() const noexcept { return *ranges_; }
  const std::shared_ptr<ServiceRanges>& shared_ranges() const noexcept { return ranges_; }
  StandardStorage& store() const;

  // The object of an address, null when it is free.  `newest`: read from the store; otherwise from this server's cache.
  Task<Result<ObjectRef>> find(std::string address, bool newest) const;
  // An address of the family that is free in this server's cache; empty: none is left.  In a range that is nearly full it is
  // found among those that were free when all that is taken was last looked at.
  Task<Result<std::string>> pick(std::string family) const;
  // Addresses that were picked and not used, or are free again.
  void give_back(const std::vector<std::string>& addresses) const;
  // ---- metrics
  // A write has been stored that takes and releases these.
  void note_used(const std::vector<std::string>& taken, const std::vector<std::string>& given) const;
  // Every address that is in use, as a repair pass has read them.
  void note_all_used(const std::vector<std::string>& addresses) const;
  // An address that a client requested, and whether it could be had.
  void count(const std::string& address, std::string_view scope, bool allocated) const;
  // The result of pick().
  void count_picked(const std::string& family, const std::string& address, std::chrono::nanoseconds took) const;

  // How often all that is taken has been looked at.
  std::uint64_t looks_for_test() const noexcept { return state_->looks.load(); }
  // The object that gives `address` to a service.
  static Object object(std::string_view address, std::string_view ns, std::string_view name);
  // Whether such an object gives its address to the service.
  static bool belongs_to(const Object& object, std::string_view ns, std::string_view name);
  // Whether it has the labels of those that the server makes, or is marked as one.
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

// Settings of a storage of the objects if no plugin serves them.
Result<ResourceConfig> address_config();

}  // namespace backplane::core
