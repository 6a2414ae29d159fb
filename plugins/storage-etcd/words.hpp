// Between etcd's words and the store's.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"
#include "call_status.hpp"
#include "etcd.pb.h"

namespace backplane::etcd {

// The store's keys begin with /registry; what etcd's begin with is a setting.
class Keys {
 public:
  // `prefix`: as clean_prefix() gives it; "/" and "/registry": keys are the same in both.
  explicit Keys(std::string_view prefix) : prefix_(prefix == "/" || prefix == "/registry" ? std::string_view() : prefix) {}
  std::string to_etcd(std::string_view key) const;
  std::string from_etcd(std::string_view key) const;

 private:
  std::string prefix_;
};

// What etcd answered that was not OK.
Status to_status(const CallStatus& status);
// No server has taken the request: another one may be asked.
bool never_arrived(const CallStatus& status);
// The server is there, but its cluster has no leader at the moment, or has just changed it.
bool is_electing(const CallStatus& status);
Status stopped_status();
Status compacted_status();

// Takes the value out of `kv`.
KeyValue take(etcdserverpb::KeyValue& kv, const Keys& keys);
StorageEvent take(etcdserverpb::Event& event, const Keys& keys);

// Whether servers of this version answer a request for progress behind what they have sent before: 3.4.31 and later of 3.4, 3.5.13 and
// later (kube-apiserver's rule for consistent reads from its cache).
bool tells_progress_truly(std::string_view version);

}  // namespace backplane::etcd
