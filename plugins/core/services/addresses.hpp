// Cluster addresses, kept in the store as IPAddress objects of networking.k8s.io/v1: one for each address in use, named by it, and saying
// whose it is.  An address is taken by creating its object in the transaction that stores the service, so any number of servers share them.
//
// Thread-safety: any executor.
// Lifetime:      keeps the storage of the objects.
// Errors:        those of the storage.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/rest.hpp"
#include "services/ranges.hpp"

namespace backplane::core {

class Addresses {
 public:
  // One range a family; the first one's is the default family.
  Addresses(std::vector<AddressRange> ranges, std::shared_ptr<StandardStorage> store)
      : ranges_(std::move(ranges)), store_(std::move(store)) {}

  // The one that the service of the API itself gets.
  std::string first_address() const { return ranges_.front().address(1); }
  std::string_view default_family() const { return ranges_.front().family(); }
  std::size_t families() const noexcept { return ranges_.size(); }
  // Null: the family is not configured.
  const AddressRange* range(std::string_view family) const;
  const StandardStorage& store() const noexcept { return *store_; }

  // The object of an address, null when it is free.  `newest`: as the store has it now; else as far as this server has heard.
  Task<Result<ObjectRef>> find(std::string address, bool newest) const;
  // An address that was free as far as this server has heard; empty: none is left.
  Task<Result<std::string>> pick(const AddressRange& range) const;
  // The object that gives `address` to a service.
  static Object object(std::string_view address, std::string_view ns, std::string_view name);
  // Whether such an object gives its address to the service.
  static bool belongs_to(const Object& object, std::string_view ns, std::string_view name);

 private:
  Task<Result<std::string>> pick_from(const AddressRange& range, std::uint64_t first, std::uint64_t last) const;

  std::vector<AddressRange> ranges_;
  std::shared_ptr<StandardStorage> store_;
};

// What the storage of the objects is made from.
Result<ResourceConfig> address_config();

}  // namespace backplane::core
