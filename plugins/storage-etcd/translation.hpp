// Converts keys and errors between etcd and the host.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"
#include "call_status.hpp"
#include "etcd.pb.h"

namespace backplane::etcd {

// Converts between the host's keys, which begin with /registry, and the keys in etcd, which begin with --etcd-prefix.
class Keys {
 public:
  // `prefix`: the result of clean_prefix(). If it is "/" or "/registry", keys are not changed.
  explicit Keys(std::string_view prefix) : prefix_(prefix == "/" || prefix == kStorageKeyRoot ? std::string_view() : prefix) {}
  std::string to_etcd(std::string_view key) const;
  std::string from_etcd(std::string_view key) const;

 private:
  std::string prefix_;
};

// The Status for an error of etcd.
Status to_status(const CallStatus& status);
// True if the server has not accepted the request, so that the request may be sent to another server.
bool was_not_sent(const CallStatus& status);
// True if the server is available, but the cluster has no leader, or the leader has just changed.
bool is_electing(const CallStatus& status);
Status stopped_status();
Status compacted_status();

// Converts etcd's messages; moves the values out of them.
KeyValue take(etcdserverpb::KeyValue& kv, const Keys& keys);
StorageEvent take(etcdserverpb::Event& event, const Keys& keys);

// True if servers of this version respond to a progress request only after they have sent all previous events: 3.4.31 and later versions
// of 3.4; 3.5.13 and all later versions (kube-apiserver's rule for consistent reads from its cache).
bool reports_progress_in_order(std::string_view version);

}  // namespace backplane::etcd
