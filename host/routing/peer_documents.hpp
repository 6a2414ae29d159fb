// The aggregated discovery document with the resources of this server and of its peers. It is generated once for each route table and each
// state of the peers.
//
// Thread-safety: any thread.
// Lifetime:      the requests that read a document share it. A document does not keep the route table alive from which it is generated.
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
  // Returns the documents of /apis; null if no peer is known.
  Ref of(const TableRef& table);
  // Counts a request that excludes the resources of peers.
  static void count_request_without();

 private:
  const std::shared_ptr<PeerServers> servers_;
  std::mutex mutex_;
  std::weak_ptr<const RouteTable> table_;
  Ref documents_;
};

}  // namespace backplane
