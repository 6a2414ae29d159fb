// Records of the servers over one store, encoded as kube-apiserver's are: Endpoints under separate keys, which are
// served nowhere and vanish when they are no longer renewed.
//
// Thread-safety: any thread.
// Lifetime:      values; copies share a storage.
// Errors:        those of the store.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/host.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"

namespace backplane::core {

class ServerRecords {
 public:
  // Upstream's intervals: a record lives for fifteen seconds and is renewed every ten.
  static constexpr std::chrono::seconds kLife{15}, kRenewal{10};

  // Below /registry/`prefix`/.
  static Result<ServerRecords> make(Host& host, const std::string& prefix);

  // Writes the record of that key.  Of the metadata of `record` labels are kept; a generation counts the writes.
  Task<Status> renew(std::string key, Object record) const;
  // No error when there is none.
  Task<Status> remove(std::string key) const;
  // Errors: kNotFound when it is not there, or has vanished.
  Task<Result<Object>> get(std::string key) const;
  Task<Status> for_each_record(std::function<void(const Object& record)> look) const;

 private:
  explicit ServerRecords(std::shared_ptr<StandardStorage> records) : records_(std::move(records)) {}
  std::shared_ptr<StandardStorage> records_;
};

// With these subsets.
Object server_record(Array subsets);
// Endpoints, and so records, cannot hold such an address: no other host could reach the server there.
bool is_loopback(std::string_view address);

}  // namespace backplane::core
