// Forwards requests for resources that peers serve and this server does not (upstream: the mixed version proxy, package peerproxy).
//
// Peers are found by their identity leases, and their addresses by their records (PeerLease). Their resources are read once when a lease is
// created or changes its holder. Certificates of peers are verified by --peer-ca-file; this server authenticates with
// --proxy-client-cert-file.
//
// Thread-safety: find(), discovery() and handlers on any thread; the rest on the plugin's executor.
// Lifetime:      shared with the hooks and with requests that have begun; the host outlives it.
// Errors:        reading a peer is retried with back-off; requests get 503 in plain text.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/work_queue.hpp"
#include "backplane/kit/front_proxy.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/peers.hpp"
#include "connections/clients.hpp"
#include "namespaces/server_records.hpp"
#include "peers/peer_catalog.hpp"

namespace backplane::core {

class PeerProxy final : public PeerServers, public std::enable_shared_from_this<PeerProxy> {
 public:
  PeerProxy(Host& host, ServerRecords records);

  // Makes a proxy, registers its hooks, and subscribes it to changes of this server's group versions.
  static Status install(Host& host, ServerRecords records);

  std::shared_ptr<HttpHandler> find(const RequestContext& context, const Exchange& exchange) override;
  PeerDiscoveryRef discovery() const override { return catalog_.discovery(); }

  // ---- for PeerHandler

  // Returns "host:port". Errors: those of the store; kNotFound.
  Task<Result<std::string>> address_of(std::string id) const;
  Result<std::shared_ptr<HttpClient>> client_at(const std::string& address) { return clients_.of("https://" + address); }
  const kit::FrontProxy& front() const noexcept { return front_; }

 private:
  static Task<Status> start_workers(std::shared_ptr<PeerProxy> proxy, PostStartHookContext context);
  static Task<Status> start_nothing(std::shared_ptr<PeerProxy> proxy, PostStartHookContext context);
  static Task<Status> wait_synced(std::shared_ptr<PeerProxy> proxy, PostStartHookContext context);
  void start(Signal& stop);
  bool is_peer(const Object& lease) const;
  void lease_changed(const ObjectRef& before, const ObjectRef& now);
  std::vector<std::string> peers() const;
  Task<Status> look(std::string lease);
  Task<Result<PeerCatalog::PeerRef>> read(std::string id);
  void follow(const GroupVersionsChange& change);

  Host& host_;
  const ServerRecords records_;
  const std::string own_id_;
  const kit::FrontProxy front_;
  Clients clients_;
  PeerCatalog catalog_;
  const std::shared_ptr<WorkQueue> queue_;
  SharedInformerFactory informers_;
  const std::shared_ptr<SharedInformer> leases_;
};

}  // namespace backplane::core
