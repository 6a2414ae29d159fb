// Watches the policies and bindings of one type and publishes them as an index. A policy is compiled once for each of its revisions.
//
// Thread-safety: index() and ready() from any thread; everything else runs on the plugin's executor.
// Lifetime:      shared with the plugin and its tasks.
// Errors:        a paramKind that is not served is retried; the policy's writes are refused meanwhile, unless it ignores failures.
// Source:        k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_source.go.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/work_queue.hpp"
#include "backplane/kit/published.hpp"
#include "common/services.hpp"
#include "manifests/manifest_objects.hpp"
#include "policies/policy_index.hpp"

namespace backplane::admission::policies {

class PolicySource : public std::enable_shared_from_this<PolicySource> {
 public:
  PolicySource(Services& services, PolicyType type);
  // Starts the informers; call it once, in a make function. `directory`: manifests whose policies precede those of the API; empty: none.
  // Errors: invalid manifests.
  Status start(const std::string& directory);

  // Null until the first policies are compiled.
  std::shared_ptr<const PolicyIndex> index() const { return index_.get(); }
  bool ready() const { return namespaces_.has_synced() && index() != nullptr; }
  Host& host() const noexcept { return host_; }
  const Lister& namespaces() const noexcept { return namespaces_; }
  ObjectTrees& namespace_trees() noexcept { return namespace_trees_; }

 private:
  using Bindings = std::map<std::string, std::vector<std::shared_ptr<const Binding>>, std::less<>>;

  static Task<void> begin(std::shared_ptr<PolicySource> source);
  static Task<Status> sync_source(std::shared_ptr<PolicySource> source);
  Task<Status> sync();
  Status start_manifests(const std::string& directory);
  void take_manifests(const manifests::ManifestObjects& objects);
  Bindings read_bindings();
  std::shared_ptr<const Policy> compiled(const ObjectRef& policy);
  Task<std::vector<PolicyHook>> make_hooks(Status& failed);

  Host& host_;
  const PolicyType type_;
  const Lister policies_, bindings_, namespaces_;
  ObjectTrees namespace_trees_{prepare_namespace};
  ParamStores params_;
  std::shared_ptr<WorkQueue> queue_;
  std::map<std::string, std::pair<ObjectRef, std::shared_ptr<const Policy>>, std::less<>> compiled_;
  std::map<std::string, std::pair<ObjectRef, std::shared_ptr<const Binding>>, std::less<>> read_;
  std::vector<PolicyHook> static_hooks_;  // of the manifests
  kit::Published<PolicyIndex> index_;
};

}  // namespace backplane::admission::policies
