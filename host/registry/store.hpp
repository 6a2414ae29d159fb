// The generic store: Strategy + storage + cache + preconditions = every verb of a resource.
//
// Writes run admission themselves when they come from a request (RequestContext::info.is_resource_request); calls with a context that the
// host or a plugin has made do not.
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
  bool garbage_collection = true;        // --enable-garbage-collector: set the finalizers that the garbage collector acts on
  std::chrono::seconds lease_reuse{60};  // --lease-reuse-duration-seconds
  GatedFields::Gates gates = {};         // --feature-gates; empty: all gated fields are enabled
  // --runtime-config.  The cache of a resource of which no version is served is not loaded before it is used.  Empty: all are served.
  std::function<bool(const GroupVersionResource& resource)> serves = {};
};

// The state that all stores of a server share.
class StoreEnvironment {
 public:
  StoreEnvironment();
  ~StoreEnvironment();
  // Gives every store made so far, and all later ones, a backend, a cache and admission. Called once. All three outlive the use of the
  // stores. `kept` receives the kind of the objects below a key prefix, before any is read; null: they have no kind any more.
  using Kept = std::function<void(std::string_view prefix, const StoredKind* kind)>;
  void start(ObjectStorage& storage, CacheHub& caches, WriteAdmission& admission, Kept kept = {}, StoreSettings settings = {});
  // The objects of `resource` are in another store, if the resource has an override name (store_override_names.hpp). Before start().
  void use_override_store(GroupResource resource, ObjectStorage& storage);
  // Conversions and field labels of the kinds with several versions.  Before start(), and again at any time: calls that begin afterwards
  // use the new ones.
  void use_scheme(std::shared_ptr<const Scheme> scheme);
  // Closes the caches that have a successor, and ends their watches. Call it after the handlers of the successors have been published:
  // until then requests are served from the former caches.
  void close_retired();
  // Ends all watches on the stores that were made with `hold`.  A store that another one has succeeded shares its
  // cache: watches on the successor end as well.
  void end_watches(const Hold& hold);
  // For each store that was made with `hold` and has no successor: its stored objects have the kind of its predecessor from now on; without
  // a predecessor they have no kind, and are not interpreted.
  void forget_kinds(const Hold& hold);
  // Call it before `caches` is destroyed: stores that are destroyed later do not use it.
  void stop();
  struct State;
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;  // shared with the stores, which may be dropped later than the environment
};

// Makes a store, or, if the config names a stored kind, a view of the store over its prefix. `hold`: of the plugin that `config` is from.
// The store does not hold it; it is held as long as objects are read and written as the store's kind.
// Errors:        kAlreadyExists for a prefix that is taken; kInternalError, naming both kinds, for a view of a kind that is not stored
//                there.
Result<std::shared_ptr<StandardStorage>> make_store(StoreEnvironment& environment, ResourceConfig config, const Hold& hold = {});
// `parent` is what make_store returned.
Result<std::shared_ptr<SubresourceStorage>> make_subresource_store(std::shared_ptr<StandardStorage> parent,
                                                                   std::shared_ptr<const Strategy> strategy,
                                                                   std::shared_ptr<const Strategy> view_strategy = nullptr);
Result<std::shared_ptr<SubresourceStorage>> make_scale_store(std::shared_ptr<StandardStorage> parent, Host::ScalePaths paths);

}  // namespace backplane
