// Makes the generic stores, which implement every verb of a resource with a Strategy, the storage and the watch cache.
//
// A write runs admission if its context belongs to a client's request (RequestContext::info.is_resource_request). If the host or a plugin
// has made the context, admission does not run.
//
// Thread-safety: every method from any executor.
// Lifetime:      a store may be made before StoreEnvironment::start(), because plugins are provisioned before the storage is opened; until
//                then its verbs return 503.
// Errors:        complete Statuses, as for all storages (rest/roles.hpp).
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
  // Whether --runtime-config allows the version.  If no version of a resource is served, its cache is not loaded before it is used.  Empty:
  // all versions are served.
  std::function<bool(const GroupVersionResource& resource)> serves = {};
};

// The state that all stores of a server share.
class StoreEnvironment {
 public:
  StoreEnvironment();
  ~StoreEnvironment();
  // Sets the backend, the caches and the admission of all stores, present and future. Called once. The three arguments outlive the use of
  // the stores. `kept` receives the kind of the objects under a key prefix before any of them is read; null: the objects no longer have a
  // kind.
  using Kept = std::function<void(std::string_view prefix, const StoredKind* kind)>;
  void start(ObjectStorage& storage, CacheHub& caches, WriteAdmission& admission, Kept kept = {}, StoreSettings settings = {});
  // Stores the objects of `resource`, an override name (store_override_names.hpp), in `storage`. To be called before start().
  void use_override_store(GroupResource resource, ObjectStorage& storage);
  // Sets the conversions and field labels of kinds with several versions.  To be called before start(), and again at any time: conversions
  // that begin afterwards use the new Scheme.
  void use_scheme(std::shared_ptr<const Scheme> scheme);
  // Ends the watches on the caches that the stores made with `hold` have replaced, at once and for good; reads in progress are completed.
  // Call it after the handlers of these stores have been published: until then the former caches serve requests.  Stores that are
  // destroyed before that leave the former caches in service.
  void end_replaced(const Hold& hold);
  // Ends all watches on the stores that were made with `hold`.  If a store has been replaced by a store with the same cache, the watches on
  // the new store end as well.
  void end_watches(const Hold& hold);
  // For each store that was made with `hold` and has not been replaced: its objects have the kind of the preceding store from now on. If
  // there is none, the objects have no kind, and their bytes are not interpreted.
  void forget_kinds(const Hold& hold);
  // Call it before the CacheHub is destroyed: stores that are destroyed later do not use the hub.
  void stop();
  struct State;
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;  // shared with the stores, which may be dropped later than the environment
};

// Makes a store. If config.stored_kind is set, makes a view: a storage that converts the objects of the store over the same key prefix.
// `hold`: keeps the plugin loaded that `config` is from. The store has a weak reference; StoredKind::hold has the strong one, as long as
// objects are read and written as this kind.
// Errors: kAlreadyExists if another store uses the prefix.
//         kInternalError, which names both kinds, for a view whose stored kind differs from the store's kind.
Result<std::shared_ptr<StandardStorage>> make_store(StoreEnvironment& environment, ResourceConfig config, const Hold& hold = {});
// `parent`: the result of make_store().
Result<std::shared_ptr<SubresourceStorage>> make_subresource_store(std::shared_ptr<StandardStorage> parent,
                                                                   std::shared_ptr<const Strategy> strategy,
                                                                   std::shared_ptr<const Strategy> view_strategy = nullptr);
Result<std::shared_ptr<SubresourceStorage>> make_scale_store(std::shared_ptr<StandardStorage> parent, Host::ScalePaths paths);

}  // namespace backplane
