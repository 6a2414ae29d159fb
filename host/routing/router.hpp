// Router finds the handler of a request in an immutable route table (route_table.hpp). The table is composed from the delegation chain: at
// startup, and whenever a delegate is replaced or withdrawn. Resources that are published at run time (custom resources, forwarded group
// versions) also have rows in it. Each change makes a new table that shares unchanged parts with the former one, and publishes it
// atomically. handle() does not wait for a change.
//
// Thread-safety: all methods may be called on any thread, except those that must be called before compose(). Concurrent changes are
//                serialized.
// Lifetime:      the tables that contain storages and handlers, and the requests that use them, keep them alive. A request for a resource
//                keeps only its handler alive, so an old table is destroyed when the documents that are generated from it have been sent.
// Errors:        compose() and change() return kAlreadyExists if two delegates serve the same path or group version; the message names the
//                first delegate.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backplane/kit/published.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/peers.hpp"
#include "backplane/rest/admission_runner.hpp"
#include "backplane/rest/scheme.hpp"
#include "base/signal.hpp"
#include "endpoints/open_watches.hpp"
#include "routing/api_enablement.hpp"
#include "routing/delegation.hpp"
#include "routing/published_paths.hpp"
#include "routing/server_address.hpp"
#include "routing/version.hpp"

namespace backplane {

struct DocumentContext;
class DocumentShelf;
class PeerDocuments;
struct RouteTable;

struct RouterConfig {
  Authorizer* authorizer = nullptr;  // authorizes updates that create their object; null: use_authorizer() sets it
  AdmissionRunner* admission = nullptr;
  ApiEnablement enablement;
  std::chrono::seconds min_request_timeout{1800};
  std::size_t max_body_bytes = 3 * 1024 * 1024;
  bool unsafe_deletes = false;           // the gate AllowUnsafeMalformedObjectDeletion: clients may delete objects that cannot be decoded
  NamedSignal* shutting_down = nullptr;  // ends all watches when it fires; null: watches are not ended early
  // Returns serverAddressByClientCIDRs of /api.
  ServerAddresses addresses = [](std::string_view) { return std::vector<ServerAddress>(); };
  bool enable_profiling = true;  // /debug/flags/v
  bool openapi_enums = true;
  bool openapi_cbor = false;
  ReportedVersion version = {};  // /version, and the titles of OpenAPI documents
};

class Router final : public HttpHandler {
 public:
  explicit Router(RouterConfig config);
  ~Router() override;

  // Sets the kinds that the server has, for error messages about bodies of other kinds. Must be called before compose(); may be called
  // again at any time.
  void use_scheme(std::shared_ptr<const Scheme> scheme) { scheme_.set(std::move(scheme)); }
  // Sets the authorizer of updates that create their object. Must be called before compose().
  void use_authorizer(Authorizer& authorizer) { config_.authorizer = &authorizer; }
  // Sets the peers to which requests for resources that no local plugin serves are forwarded; null: no peers. Must be called before
  // compose().
  void use_peers(std::shared_ptr<PeerServers> peers);
  // Replaces the chain. `chain`: the delegates from front to back. `host_paths` (health, metrics) have precedence over paths of delegates.
  // The rows of targets that were in the former chain are reused. Targets that are not in the new chain are no longer served. If compose()
  // returns an error, nothing changes.
  Status compose(std::vector<TargetRef> chain, std::vector<PathRoute> host_paths);
  Status compose(std::vector<DelegationTarget> chain, std::vector<PathRoute> host_paths);
  // Changes the resources that `delegate` has published at run time. Must be called after compose().
  Status change(const std::string& delegate, GroupsChange change);
  // Adds or replaces a path of `delegate`. withdraw_path() removes it. Errors: kAlreadyExists, kBadRequest, kNotFound.
  Status publish_path(const std::string& delegate, PathRoute route);
  Status withdraw_path(const std::string& delegate, const std::string& path);

  std::vector<GroupVersionInfo> group_versions() const;
  // Returns the storage of a resource (not of a subresource); null if this server does not serve the resource.
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const;
  // Returns the storage of the resource that has this kind; null if this server does not serve it.
  std::shared_ptr<RestStorage> find_storage_of(const GroupVersionKind& kind) const;
  // Registers `callback` for changes of group versions. It receives the changes in their order, on the thread of a caller that makes a
  // change. After drop_callbacks(owner) it is no longer called, but a call in progress may still complete.
  void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void* owner = nullptr);
  void drop_callbacks(const void* owner);
  // Fires when every delegate that publishes at run time has made its first change.
  Signal& groups_complete() noexcept { return groups_complete_; }

  // context.info must be filled.
  Task<void> handle(RequestContext& context, Exchange& exchange) override;

  // Returns the chain as JSON, as `backplane plugin graph` and /debug/chain print it.
  std::string chain_json() const;
  // Returns the sorted paths that GET / lists.
  std::vector<std::string> index_paths() const;

 private:
  // Returns the handler of the request; the handler that returns 404 if there is no other. Never null.
  std::shared_ptr<HttpHandler> find_handler(const RequestContext& context, const Exchange& exchange) const;
  // As find_handler(). For writes it also sets RequestContext::admission.
  std::shared_ptr<HttpHandler> find_with_admission(RequestContext& context, const Exchange& exchange) const;
  DocumentContext documents() const;
  Result<std::shared_ptr<const RouteTable>> composed(const std::vector<TargetRef>& chain, const std::vector<PathRoute>& host_paths,
                                                     GroupVersionsChange& change);
  void notify();

  // A change for which the callbacks have not been called yet.
  struct PendingNotification {
    GroupVersionsChange change;
    bool complete = false;  // every delegate has made its first change: groups_complete_ fires
  };

  RouterConfig config_;
  kit::Published<Scheme> scheme_{nullptr};
  std::shared_ptr<OpenWatches> watches_;  // open watches on published resources, and of targets without an OpenWatches
  std::shared_ptr<DocumentShelf> shelf_;
  std::shared_ptr<PeerDocuments> peers_;  // null: the server has no peers
  NamedSignal groups_complete_{"groups-complete"};
  mutable std::mutex mutex_;  // locked by changes, not by handle()
  std::vector<TargetRef> chain_;
  std::set<std::string> unpublished_;  // delegates that have not made their first change
  kit::Published<RouteTable> table_;
  PublishedPaths published_paths_;
  using Callbacks = std::vector<std::pair<const void*, std::function<void(const GroupVersionsChange&)>>>;
  Callbacks callbacks_;
  std::deque<PendingNotification> pending_notifications_;
  bool notifying_ = false;
};

}  // namespace backplane
