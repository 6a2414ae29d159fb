// The discovery document with the local and the peers' resources: made once for each route table and each state of the peers.
//
// Thread-safety: any thread.
// Lifetime:      shared by the requests that read it; a document does not keep the table it is made from.
// Errors:        none.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "backplane/points/peers.hpp"
#include "routing/lazy_document.hpp"
#include "routing/route_table.hpp"

namespace backplane {

class PeerDocuments {
 public:
  struct Documents {
    PeerDiscoveryRef peers;
    LazyDocument json, protobuf;
  };
  using Ref = std::shared_ptr<const Documents>;

  explicit PeerDocuments(std::shared_ptr<PeerServers> servers) : servers_(std::move(servers)) {}

  PeerServers& servers() const noexcept { return *servers_; }
  // The documents of /apis; null: no peer has other resources than this table.
  Ref of(const TableRef& table);
  // Counts a request for local resources only.
  static void count_request_without();

 private:
  const std::shared_ptr<PeerServers> servers_;
  std::mutex mutex_;
  std::weak_ptr<const RouteTable> table_;
  Ref documents_;
};

}  // namespace backplane
