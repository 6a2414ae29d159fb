// Counts the calls of a store and measures their duration, by operation and resource (etcd_request_duration_seconds and similar metrics).
// The metrics have kube-apiserver's names for every kind of store.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows the backend.
// Errors:        the backend's.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "backplane/core/meta.hpp"
#include "storage/forwarding_storage.hpp"

namespace backplane {

class MeasuredStorage final : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  // Sets the resource of the keys with this prefix.  Keys of other prefixes are counted under the first path segment after "/registry/".
  void use_resource(std::string_view prefix, GroupResource resource);
  void forget_resource(std::string_view prefix);

  Task<Result<RangeResult>> range(RangeRequest request) override;
  Task<Result<TxnResult>> txn(TxnRequest request) override;
  Result<std::unique_ptr<StorageWatch>> watch(std::string prefix, Revision after) override;

  struct Names;

 private:
  const std::shared_ptr<Names> names_ = make_names();
  static std::shared_ptr<Names> make_names();
};

}  // namespace backplane
