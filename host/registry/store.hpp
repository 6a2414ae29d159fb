// The generic store: Strategy + storage + cache + preconditions = every verb of a resource.
//
// Writes run admission themselves when they come from a request (RequestContext::info.is_resource_request); calls by the host or by
// a plugin, with a context that it has made, do not.
//
// Thread-safety: every method from any executor.
// Lifetime:      a store may be made before the environment has a backend (plugins provision before storage opens); until start() its
//                verbs answer 503.
// Errors:        as rest.hpp: complete Statuses.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "backplane/host.hpp"
#include "backplane/rest/admission_runner.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "base/hold.hpp"
#include "engine/gated_fields.hpp"
#include "registry/write_admission.hpp"
#include "storage/stored_forms.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

// Settings of every store from the command line.
struct StoreSettings {
  int delete_collection_workers = 1;     // --delete-collection-workers
  bool garbage_collection = true;        // --enable-garbage-collector: set the finalizers that a collector works from
  std::chrono::seconds lease_reuse{60};  // --lease-reuse-duration-seconds
  GatedFields::Gates gates = {};         // --feature-gates; empty: all gated fields are enabled
  // --runtime-config.  The cache of a resource of which no version is served is not loaded before it is used.  Empty: all are served.
  std::function<bool(const GroupVersionResource& resource)> serves = {};
};

// What all stores of a server share.
class StoreEnvironment {
 public:
  StoreEnvironment();
  ~StoreEnvironment();
  // Gives every store made so far, and all later ones, a backend, a cache and admission.  Once.  All three outlive the stores' use.
  // `kept` receives, before anything is read, what the objects below a key prefix are; null: they are of no kind any more.
  using Kept = std::function<void(std::string_view prefix, const StoredKind* kind)>;
  void start(ObjectStorage& storage, CacheHub& caches, WriteAdmission& admission, Kept kept = {}, StoreSettings settings = {});
  // The objects of `resource` are in another store, if it has a name for its place (store_override_names.hpp).  Before start().
  void use_override_store(GroupResource resource, ObjectStorage& storage);
  // Conversions and field labels of the kinds with several versions.  Before start(), and again at any time: calls that begin afterwards
  // use the new ones.
  void use_scheme(std::shared_ptr<const Scheme> scheme);
  // Ends the caches that have a successor, with what watches them.  Call it when what uses the successors has been published: until then
  // requests are served from those before.
  void close_retired();
  // Ends all watches on the stores that were made with `hold`.  A store that another one has succeeded shares its
  // cache: watches on the successor end as well.
  void end_watches(const Hold& hold);
  // What is stored below the stores that were made with `hold` and have no successor is of the kind of their predecessor from here on; if
  // there is none, of no kind: it stays as it is.
  void forget_kinds(const Hold& hold);
  // Call before `caches` goes away: stores that are dropped later leave it alone.
  void stop();
  struct State;
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;  // shared with the stores, which may be dropped later than the environment
};

// A store, or a view of the one over the config's prefix when it names a stored kind.  `hold`: of the plugin that `config` is from; it is
// held as long as objects are read and written as the store's kind, not by the store.
// Errors: kAlreadyExists for a prefix that is taken; kInternalError, naming both kinds, for a view of what is not stored there.
Result<std::shared_ptr<StandardStorage>> make_store(StoreEnvironment& environment, ResourceConfig config, const Hold& hold = {});
// `parent` is what make_store returned.
Result<std::shared_ptr<SubresourceStorage>> make_subresource_store(std::shared_ptr<StandardStorage> parent,
                                                                   std::shared_ptr<const Strategy> strategy,
                                                                   std::shared_ptr<const Strategy> view_strategy = nullptr);
Result<std::shared_ptr<SubresourceStorage>> make_scale_store(std::shared_ptr<StandardStorage> parent, Host::ScalePaths paths);

}  // namespace backplane
