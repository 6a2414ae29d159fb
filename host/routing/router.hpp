// Path → the row that serves it.  The delegation chain is composed into an immutable route table, at the start and again whenever a
// delegate is replaced or withdrawn; resources that are published at run time (custom resources, forwarded group versions) are rows of it,
// too. Every change makes a new table, which shares unchanged parts with the former one, and publishes it atomically; readers never lock.
//
// Thread-safety: handle() and all const methods from any thread; compose() and change() from any thread, one at a time inside.
// Lifetime:      storages and handlers are kept alive by the tables that name them and by the requests that use them. A request on a
//                resource keeps only its handler, so an old table is destroyed when the documents made from it have been sent.
// Errors:        compose() and change(): kAlreadyExists when two delegates serve the same path, naming the first.
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
  Authorizer* authorizer = nullptr;  // authorizes updates that turn out to be creates; null: use_authorizer()
  AdmissionRunner* admission = nullptr;
  ApiEnablement enablement;
  std::chrono::seconds min_request_timeout{1800};
  std::size_t max_body_bytes = 3 * 1024 * 1024;
  bool unsafe_deletes = false;           // the gate AllowUnsafeMalformedObjectDeletion: unreadable objects can be deleted
  NamedSignal* shutting_down = nullptr;  // null: watches are not ended early
  // serverAddressByClientCIDRs of /api.
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

  // The kinds the server knows, for messages about bodies of other kinds.  Before compose(), and again at any time.
  void use_scheme(std::shared_ptr<const Scheme> scheme) { scheme_.set(std::move(scheme)); }
  // The authorizer of updates that turn out to create.  Before compose().
  void use_authorizer(Authorizer& authorizer) { config_.authorizer = &authorizer; }
  // The peers that get requests for resources that no plugin here serves; null: none.  Before compose().
  void use_peers(std::shared_ptr<PeerServers> peers);
  // Front to back; paths of `host_paths` (health, metrics) come first.  Targets that have been in the chain before keep their rows, those
  // that are no longer in it are not served any more.  An error changes nothing.
  Status compose(std::vector<TargetRef> chain, std::vector<PathRoute> host_paths);
  Status compose(std::vector<DelegationTarget> chain, std::vector<PathRoute> host_paths);
  // Changes the resources that `delegate` has published at run time; after compose().
  Status change(const std::string& delegate, GroupsChange change);
  // Adds or replaces one path of `delegate`; withdraw_path() removes it.
  Status publish_path(const std::string& delegate, PathRoute route);
  Status withdraw_path(const std::string& delegate, const std::string& path);

  std::vector<GroupVersionInfo> group_versions() const;
  // The storage that serves a resource (not a subresource); null if there is none.
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const;
  // The storage of a kind's resource in that version; null if it is not served here.
  std::shared_ptr<RestStorage> find_storage_of(const GroupVersionKind& kind) const;
  // `callback` receives every change in the order they were made, on the thread of one that makes them, until drop_callbacks(owner); a call
  // that is in progress then may still complete.
  void on_group_versions_changed(std::function<void(const GroupVersionsChange&)> callback, const void* owner = nullptr);
  void drop_callbacks(const void* owner);
  // Fires when every delegate that publishes at run time has made its first change.
  Signal& groups_complete() noexcept { return groups_complete_; }

  // Expects context.info to be filled.
  Task<void> handle(RequestContext& context, Exchange& exchange) override;

  // The chain as `backplane plugin graph` and /debug/chain print it.
  std::string chain_json() const;
  // The paths that GET / lists, sorted.
  std::vector<std::string> index_paths() const;

 private:
  // The row's handler, or the handler that returns 404. Never null.
  std::shared_ptr<HttpHandler> find_handler(const RequestContext& context, const Exchange& exchange) const;
  DocumentContext documents() const;
  Result<std::shared_ptr<const RouteTable>> composed(const std::vector<TargetRef>& chain, const std::vector<PathRoute>& host_paths,
                                                     GroupVersionsChange& change);
  void tell();

  // A change that the callbacks have not received.
  struct PendingNotification {
    GroupVersionsChange change;
    bool complete = false;  // the last of the delegates has published
  };

  RouterConfig config_;
  kit::Published<Scheme> scheme_{nullptr};
  std::shared_ptr<OpenWatches> watches_;  // the open watches of all handlers
  std::shared_ptr<DocumentShelf> shelf_;
  std::shared_ptr<PeerDocuments> peers_;  // null: there are none
  NamedSignal groups_complete_{"groups-complete"};
  mutable std::mutex mutex_;  // writers only
  std::vector<TargetRef> chain_;
  std::set<std::string> unpublished_;  // delegates whose first change is to come
  kit::Published<RouteTable> table_;
  PublishedPaths published_paths_;
  using Callbacks = std::vector<std::pair<const void*, std::function<void(const GroupVersionsChange&)>>>;
  Callbacks callbacks_;
  std::deque<PendingNotification> pending_notifications_;
  bool telling_ = false;
};

}  // namespace backplane
