// Node ports, stored as one RangeAllocation object: a bit for each port of the range, changed by compare-and-swap in the transaction that
// stores the service, so any number of servers share them.
//
// Thread-safety: NodePorts: any executor.  PortMap: a value.
// Lifetime:      NodePorts shares the storage of the object.
// Errors:        those of the storage; kInternalError for an object whose bits cannot be read.
#pragma once

#include <bitset>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/turns.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "services/ranges.hpp"

namespace backplane::core {

// The set of allocated ports.
class PortMap {
 public:
  // Reads a RangeAllocation of any range.
  static Result<PortMap> read(const Object& allocation);
  bool taken(std::int64_t port) const { return port > 0 && port <= kLast && bits_.test(static_cast<std::size_t>(port)); }
  void set(std::int64_t port, bool taken = true) {
    if (port > 0 && port <= kLast) bits_.set(static_cast<std::size_t>(port), taken);
  }
  // Returns a free port of the range; 0: none.
  std::int64_t pick(const PortRange& range) const;
  std::vector<std::int64_t> all() const;
  // The number of allocated ports in `range`.
  int count(const PortRange& range) const;
  // The RangeAllocation of `range` with these ports.
  Object object(const PortRange& range) const;

 private:
  static constexpr std::int64_t kLast = 65535;
  std::int64_t pick_from(int first, int last) const;
  std::bitset<kLast + 1> bits_;
};

class NodePorts {
 public:
  NodePorts(PortRange range, std::shared_ptr<StandardStorage> store)
      : range_(range), store_(std::move(store)), writers_(std::make_unique<Turns>(1)) {}

  const PortRange& range() const noexcept { return range_; }

  struct Stored {
    ObjectRef entry;  // null: the object does not exist yet
    PortMap map;
  };
  // If `newest`, reads from the store, otherwise from this server's cache.
  Task<Result<Stored>> read(bool newest) const;
  // Serializes the transactions of this server that change the object. A writer that holds the turn until its commit cannot conflict with
  // another write of this server; a conflict would discard its work.
  Task<Turns::Turn> turn() const { return writers_->take(); }
  // Adds a write to the transaction that replaces the stored object `before` by `map`, or creates the object if it does not exist.
  Status join(StoreTransaction& transaction, const Stored& before, const PortMap& map) const;

 private:
  PortRange range_;
  std::shared_ptr<StandardStorage> store_;
  std::unique_ptr<Turns> writers_;
};

// The configuration of the storage of the object, which is not served.
ResourceConfig range_config();

}  // namespace backplane::core
