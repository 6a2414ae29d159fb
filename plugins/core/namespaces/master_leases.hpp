// The addresses of the servers over one store: each keeps a record of its own that vanishes when it is no longer renewed (upstream:
// reconcilers.Leases, keys /registry/masterleases/ADDRESS).
//
// Thread-safety: any thread.
// Lifetime:      values; they share a storage that is served nowhere.
// Errors:        those of the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/rest.hpp"

namespace backplane::core {

class MasterLeases {
 public:
  static Result<MasterLeases> make(Host& host);

  // Keeps the record of `address` for fifteen seconds more.
  Task<Status> renew(std::string address) const;
  // No error when there is none.
  Task<Status> remove(std::string address) const;
  // Sorted.
  Task<Result<std::vector<std::string>>> addresses() const;

 private:
  explicit MasterLeases(std::shared_ptr<StandardStorage> records) : records_(std::move(records)) {}
  std::shared_ptr<StandardStorage> records_;
};

}  // namespace backplane::core
