// How each call to etcd begins, for Cluster::call() and its like.
//
// Thread-safety: values without state.
#pragma once

#include <utility>

#include "cluster.hpp"

namespace backplane::etcd {

namespace pb = etcdserverpb;

struct StartRange {
  static constexpr Method kMethod{"etcdserverpb.KV", "Range"};
  template <class Done>
  void operator()(const Server& server, grpc::ClientContext* context, pb::RangeRequest* request, pb::RangeResponse* response,
                  Done done) const {
    server.kv->async()->Range(context, request, response, std::move(done));
  }
};
struct StartTxn {
  static constexpr Method kMethod{"etcdserverpb.KV", "Txn"};
  template <class Done>
  void operator()(const Server& server, grpc::ClientContext* context, pb::TxnRequest* request, pb::TxnResponse* response, Done done) const {
    server.kv->async()->Txn(context, request, response, std::move(done));
  }
};
struct StartCompact {
  static constexpr Method kMethod{"etcdserverpb.KV", "Compact"};
  template <class Done>
  void operator()(const Server& server, grpc::ClientContext* context, pb::CompactionRequest* request, pb::CompactionResponse* response,
                  Done done) const {
    server.kv->async()->Compact(context, request, response, std::move(done));
  }
};
struct StartLease {
  static constexpr Method kMethod{"etcdserverpb.Lease", "LeaseGrant"};
  template <class Done>
  void operator()(const Server& server, grpc::ClientContext* context, pb::LeaseGrantRequest* request, pb::LeaseGrantResponse* response,
                  Done done) const {
    server.lease->async()->LeaseGrant(context, request, response, std::move(done));
  }
};
struct StartStatus {
  static constexpr Method kMethod{"etcdserverpb.Maintenance", "Status"};
  template <class Done>
  void operator()(const Server& server, grpc::ClientContext* context, pb::StatusRequest* request, pb::StatusResponse* response,
                  Done done) const {
    server.maintenance->async()->Status(context, request, response, std::move(done));
  }
};

}  // namespace backplane::etcd
