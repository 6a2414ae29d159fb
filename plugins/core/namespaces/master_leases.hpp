// The addresses of the servers over one store: each keeps a record that expires if it is not renewed (upstream:
// reconcilers.Leases, keys /registry/masterleases/ADDRESS).
//
// Thread-safety: any thread.
// Lifetime:      values; they share a storage that is not served.
// Errors:        those of the store.
#pragma once

#include <string>
#include <vector>

#include "namespaces/server_records.hpp"

namespace backplane::core {

class MasterLeases {
 public:
  static Result<MasterLeases> make(Host& host);

  // Extends the record of `address` by fifteen seconds.
  Task<Status> renew(std::string address) const;
  // Success if there is no record.
  Task<Status> remove(std::string address) const { return records_.remove(std::move(address)); }
  // Sorted.
  Task<Result<std::vector<std::string>>> addresses() const;

 private:
  explicit MasterLeases(ServerRecords records) : records_(std::move(records)) {}
  ServerRecords records_;
};

}  // namespace backplane::core
