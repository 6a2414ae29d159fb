// Records of the servers that share a store. They are encoded like kube-apiserver's: Endpoints objects under separate keys, which are not
// served and which expire if they are not renewed.
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

  // The records have keys below /registry/`prefix`/.
  static Result<ServerRecords> make(Host& host, const std::string& prefix);

  // Writes the record of that key. Of its metadata only the labels are stored, and metadata.generation, which counts the writes.
  Task<Status> renew(std::string key, Object record) const;
  // Removes the record of that key. Succeeds if there is no record.
  Task<Status> remove(std::string key) const;
  // Errors:        kNotFound if there is no record, or if it has expired.
  Task<Result<Object>> get(std::string key) const;
  Task<Status> for_each_record(std::function<void(const Object& record)> look) const;

 private:
  explicit ServerRecords(std::shared_ptr<StandardStorage> records) : records_(std::move(records)) {}
  std::shared_ptr<StandardStorage> records_;
};

// A record with these subsets.
Object server_record(Array subsets);
// Returns true for a loopback address. Endpoints, and so records, cannot contain it, because other hosts cannot reach it.
bool is_loopback(std::string_view address);

}  // namespace backplane::core
