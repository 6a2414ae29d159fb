// Translation between etcd's keys and errors and the store's.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"
#include "call_status.hpp"
#include "etcd.pb.h"

namespace backplane::etcd {

// The store's keys begin with /registry; the prefix of etcd's keys is a setting.
class Keys {
 public:
  // `prefix`: as clean_prefix() gives it; "/" and "/registry": keys are the same in both.
  explicit Keys(std::string_view prefix) : prefix_(prefix == "/" || prefix == kStorageKeyRoot ? std::string_view() : prefix) {}
  std::string to_etcd(std::string_view key) const;
  std::string from_etcd(std::string_view key) const;

 private:
  std::string prefix_;
};

// The Status for an error of etcd.
Status to_status(const CallStatus& status);
// True if the server has not accepted the request, so that the request may be sent to another server.
bool never_arrived(const CallStatus& status);
// True if the server is available, but its cluster has no leader, or has just changed it.
bool is_electing(const CallStatus& status);
Status stopped_status();
Status compacted_status();

// Moves the value out of `kv`.
KeyValue take(etcdserverpb::KeyValue& kv, const Keys& keys);
StorageEvent take(etcdserverpb::Event& event, const Keys& keys);

// Whether servers of this version respond to a progress request after all previous events: 3.4.31 and later of 3.4, 3.5.13 and
// later (kube-apiserver's rule for consistent reads from its cache).
bool tells_progress_truly(std::string_view version);

}  // namespace backplane::etcd
