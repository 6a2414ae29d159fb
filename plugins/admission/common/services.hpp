// The services that the admission plugins of this folder share: the host, and one informer for each resource.
//
// Thread-safety: PluginRow::make on one thread, at startup and for each new configuration; a Lister from any thread.
// Lifetime:      services outlive the plugins that were made with them.
// Errors:        none.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission {

// The cached objects of one resource.
class Lister {
 public:
  // `served`: false if --runtime-config disables the resource; it then has no objects.
  explicit Lister(std::shared_ptr<SharedInformer> informer, bool served = true) : informer_(std::move(informer)), served_(served) {}
  // Null if the cache has no such object. `ns` is empty for cluster-scoped resources.
  ObjectRef find(std::string_view ns, std::string_view name) const;
  std::vector<ObjectRef> all() const { return informer_->indexer().list(); }
  std::vector<ObjectRef> in_namespace(const std::string& ns) const;
  // For ready(): true once the first list is complete.
  bool has_synced() const noexcept { return !served_ || informer_->has_synced(); }
  // Waits for has_synced(); false if the server stops first.
  Task<bool> wait_synced() const;
  const std::shared_ptr<SharedInformer>& informer() const noexcept { return informer_; }

 private:
  std::shared_ptr<SharedInformer> informer_;
  bool served_;
};

class Services {
 public:
  explicit Services(Host& host);
  Host& host() const noexcept { return host_; }
  // Whether the gate is on (--feature-gates).
  bool gate(std::string_view name) const;
  // The shared informer of a resource. It starts when the host serves all groups, or at once if the host already serves them, as after a
  // reload of this plugin. Call it only in a make function, so that a resource is followed only if an enabled plugin reads it.
  Lister lister(const GroupVersionResource& resource);
  // Starts the informers when all groups are served; returns when the server stops.
  static Task<void> run(std::shared_ptr<Services> services);

 private:
  Host& host_;
  SharedInformerFactory informers_;
  // set before run() starts the informers, so that run() or lister() starts an informer that is added meanwhile
  std::atomic<bool> started_{false};
};

// One admission plugin of kube-apiserver.
struct PluginRow {
  std::string_view name;
  // Errors: the configuration is invalid; startup then fails.
  Result<std::shared_ptr<AdmissionPlugin>> (*make)(Services& services, const AdmissionPluginConfig& config);
};

}  // namespace backplane::admission
