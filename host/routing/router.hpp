// Path → the row that serves it.  The delegation chain is composed once into an immutable route table; groups published at run time
// (custom resources) are rows of it too: a change builds a new table and swaps it, readers never lock.
//
// Thread-safety: handle() and all const methods from any thread; compose() and publish() from any thread, one at a time inside.
// Lifetime:      storages and handlers are kept alive by the table that names them, tables by the requests that use them.
// Errors:        compose() and publish(): kAlreadyExists when two delegates serve the same path, naming the first.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/http.hpp"
#include "endpoints/open_watches.hpp"
#include "routing/api_enablement.hpp"
#include "routing/delegation.hpp"
#include "routing/published_paths.hpp"

namespace backplane {

struct VersionInfo;
struct RouteTable;

struct RouterConfig {
  AdmissionRunner* admission = nullptr;
  ApiEnablement enablement;
  std::chrono::seconds min_request_timeout{1800};
  std::size_t max_body_bytes = 3 * 1024 * 1024;
  Signal* shutting_down = nullptr;  // null: watches are not ended early
  std::string server_address;       // "host:port" shown in serverAddressByClientCIDRs
  bool enable_profiling = true;     // /debug/flags/v
};

class Router final : public HttpHandler {
 public:
  explicit Router(RouterConfig config);
  ~Router() override;

  // The kinds the server knows, for the words about bodies of other kinds.  Before compose().
  void use_scheme(std::shared_ptr<const Scheme> scheme) { scheme_ = std::move(scheme); }
  // Front to back.  Once, at start; paths of `host_paths` (health, metrics) come first.
  Status compose(std::vector<DelegationTarget> chain, std::vector<PathRoute> host_paths);
  // Replaces what `delegate` has published at run time.
  Status publish(std::string_view delegate, std::vector<APIGroupInfo> groups);
  // One path of `delegate`'s, added or replaced, and taken back.
  Status publish_path(const std::string& delegate, PathRoute route);
  Status withdraw_path(const std::string& delegate, const std::string& path);

  std::vector<GroupVersionInfo> group_versions() const;
  // What serves a resource (no subresource) now; null when nobody does.
  std::shared_ptr<RestStorage> find_storage(const GroupVersionResource& resource) const;
  void on_group_versions_changed(std::function<void()> callback);

  // Expects context.info to be filled.
  Task<void> handle(RequestContext& context, Exchange& exchange) override;

  // The chain as `backplane plugin graph` and /debug/chain print it.
  std::string chain_json() const;

 private:
  std::shared_ptr<const RouteTable> table() const;
  Status rebuild();                       // with mutex_ held
  std::string chain_json_locked() const;  // with mutex_ held
  // `published`: the group came at run time.
  Status add_group_rows(RouteTable& table, const DelegationTarget& target, const APIGroupInfo& group, bool published) const;

  RouterConfig config_;
  std::shared_ptr<const Scheme> scheme_;
  std::shared_ptr<OpenWatches> watches_;  // of all handlers
  mutable std::mutex mutex_;              // writers only
  std::vector<DelegationTarget> chain_;
  std::vector<PathRoute> host_paths_;
  std::map<std::string, std::vector<APIGroupInfo>> published_;
  std::atomic<std::shared_ptr<const RouteTable>> table_;
  PublishedPaths published_paths_;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace backplane
