// The addresses of the servers that share a store. Each server has a record, which expires if the server does not renew it (upstream:
// reconcilers.Leases, keys /registry/masterleases/ADDRESS).
//
// Thread-safety: any thread.
// Lifetime:      values; copies share a storage that is not served.
// Errors:        those of the store.
#pragma once

#include <string>
#include <vector>

#include "namespaces/server_records.hpp"

namespace backplane::core {

class MasterLeases {
 public:
  static Result<MasterLeases> make(Host& host);

  // Writes the record of `address`, which then lives for fifteen seconds.
  Task<Status> renew(std::string address) const;
  // Removes the record of `address`. Succeeds if there is no record.
  Task<Status> remove(std::string address) const { return records_.remove(std::move(address)); }
  // Returns the addresses of all records, sorted.
  Task<Result<std::vector<std::string>>> addresses() const;

 private:
  explicit MasterLeases(ServerRecords records) : records_(std::move(records)) {}
  ServerRecords records_;
};

}  // namespace backplane::core
