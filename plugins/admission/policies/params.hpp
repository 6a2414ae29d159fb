// The parameter objects of policies: one informer for each paramKind that a bound policy has, of built-in and custom kinds.
//
// Thread-safety: ParamStore from any thread; ParamStores on the plugin's executor.
// Lifetime:      a store stops when no policy uses its kind any more; snapshots keep it readable.
// Errors:        kNotFound for a kind that no plugin serves.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/generic (policy_source.go, policy_dispatcher.go).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/kit/resource_resolver.hpp"
#include "backplane/net/informer.hpp"
#include "policies/object_trees.hpp"
#include "policies/policy.hpp"

namespace backplane::admission::policies {

class ParamStore {
 public:
  ParamStore(Host& host, const kit::ResolvedResource& resource);
  ~ParamStore();

  void start(const std::shared_ptr<ParamStore>& self);
  void stop() { informer_->stop(); }
  bool has_synced() const noexcept { return informer_->has_synced(); }
  bool namespaced() const noexcept { return namespaced_; }
  // Null: there is no such object.
  ObjectTreeRef find(std::string_view ns, std::string_view name);
  // The selected objects, sorted by name. A kind without namespaces ignores `ns`.
  std::vector<ObjectTreeRef> select(const std::string& ns, const LabelSelector& selector);

 private:
  Host& host_;
  const bool namespaced_;
  const std::shared_ptr<SharedInformer> informer_;
  ObjectTrees trees_;
};

// The parameters with which a binding evaluates its policy for one write. A null item: an evaluation without parameters.
struct CollectedParams {
  std::vector<ObjectTreeRef> params;
  std::string problem;             // not empty: the configuration cannot be used
  ParamStore* unsynced = nullptr;  // not null: the caller must wait until the store has its objects
};
// `timed_out`: the caller does not wait any longer for an unsynced store.
CollectedParams collect_params(const Policy& policy, const Binding& binding, ParamStore* store, std::string_view ns, bool timed_out);

class ParamStores {
 public:
  explicit ParamStores(Host& host) : host_(host), resolver_(host.client()) {}
  // The store of a kind, started if it is new.
  Task<Result<std::shared_ptr<ParamStore>>> store_of(ParamKind kind);
  // Stops the stores of all other kinds.
  void keep_only(const std::vector<ParamKind>& kinds);
  std::size_t size() const noexcept { return stores_.size(); }

 private:
  Host& host_;
  kit::ResourceResolver resolver_;
  std::map<ParamKind, std::shared_ptr<ParamStore>> stores_;
};

}  // namespace backplane::admission::policies
