// The methods of etcd with their message types, for the template arguments of Cluster::call() and Cluster::ask().
//
// Thread-safety: values without state.
#pragma once

#include "cluster.hpp"
#include "etcd.pb.h"

namespace backplane::etcd {

namespace pb = etcdserverpb;

struct RangeCall {
  static constexpr Method kMethod{MethodId::kRange, "etcdserverpb.KV", "Range", "/etcdserverpb.KV/Range"};
  using Request = pb::RangeRequest;
  using Response = pb::RangeResponse;
};
struct TxnCall {
  static constexpr Method kMethod{MethodId::kTxn, "etcdserverpb.KV", "Txn", "/etcdserverpb.KV/Txn"};
  using Request = pb::TxnRequest;
  using Response = pb::TxnResponse;
};
struct CompactCall {
  static constexpr Method kMethod{MethodId::kCompact, "etcdserverpb.KV", "Compact", "/etcdserverpb.KV/Compact"};
  using Request = pb::CompactionRequest;
  using Response = pb::CompactionResponse;
};
struct LeaseCall {
  static constexpr Method kMethod{MethodId::kLeaseGrant, "etcdserverpb.Lease", "LeaseGrant", "/etcdserverpb.Lease/LeaseGrant"};
  using Request = pb::LeaseGrantRequest;
  using Response = pb::LeaseGrantResponse;
};
struct StatusCall {
  static constexpr Method kMethod{MethodId::kStatus, "etcdserverpb.Maintenance", "Status", "/etcdserverpb.Maintenance/Status"};
  using Request = pb::StatusRequest;
  using Response = pb::StatusResponse;
};

}  // namespace backplane::etcd
