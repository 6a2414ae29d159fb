// How each call to etcd begins, for Cluster::call() and its like.
//
// Thread-safety: values without state.
#pragma once

#include "cluster.hpp"

namespace backplane::etcd {

namespace pb = etcdserverpb;

struct StartRange {
  static constexpr Method kMethod{"etcdserverpb.KV", "Range"};
  auto operator()(const Server& server, grpc::ClientContext* context, const pb::RangeRequest& request, grpc::CompletionQueue* queue) const {
    return server.kv->AsyncRange(context, request, queue);
  }
};
struct StartTxn {
  static constexpr Method kMethod{"etcdserverpb.KV", "Txn"};
  auto operator()(const Server& server, grpc::ClientContext* context, const pb::TxnRequest& request, grpc::CompletionQueue* queue) const {
    return server.kv->AsyncTxn(context, request, queue);
  }
};
struct StartCompact {
  static constexpr Method kMethod{"etcdserverpb.KV", "Compact"};
  auto operator()(const Server& server, grpc::ClientContext* context, const pb::CompactionRequest& request,
                  grpc::CompletionQueue* queue) const {
    return server.kv->AsyncCompact(context, request, queue);
  }
};
struct StartLease {
  static constexpr Method kMethod{"etcdserverpb.Lease", "LeaseGrant"};
  auto operator()(const Server& server, grpc::ClientContext* context, const pb::LeaseGrantRequest& request,
                  grpc::CompletionQueue* queue) const {
    return server.lease->AsyncLeaseGrant(context, request, queue);
  }
};
struct StartStatus {
  static constexpr Method kMethod{"etcdserverpb.Maintenance", "Status"};
  auto operator()(const Server& server, grpc::ClientContext* context, const pb::StatusRequest& request,
                  grpc::CompletionQueue* queue) const {
    return server.maintenance->AsyncStatus(context, request, queue);
  }
};

}  // namespace backplane::etcd
