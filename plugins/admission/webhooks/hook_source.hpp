// The webhooks of all configurations of one kind, merged in the order of the configurations' names. A configuration is compiled once for
// each of its changes.
//
// Thread-safety: hooks() and any() from any thread; the informer's handlers run one at a time.
// Lifetime:      shared with the informer's handler.
// Source:        k8s.io/apiserver/pkg/admission/configuration.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/kit/published.hpp"
#include "backplane/net/informer.hpp"
#include "webhooks/hook.hpp"

namespace backplane::admission::webhooks {

class HookSource : public std::enable_shared_from_this<HookSource> {
 public:
  HookSource(HookType type, HookParts parts) : type_(type), parts_(std::move(parts)) {}
  // Adds the handler. Call it once, before the informer runs.
  void follow(SharedInformer& informer);

  // Never null.
  std::shared_ptr<const Hooks> hooks() const { return merged_.get(); }
  // The webhooks of manifests, which come first in hooks().
  std::shared_ptr<const Hooks> static_hooks() const { return static_.get(); }
  // False if there is no webhook. The call is one atomic load.
  bool any() const noexcept { return any_.load(std::memory_order_acquire); }

  // Called by the informer's handler.
  void put(const ObjectEntry& configuration);
  void remove(const std::string& name);
  // Replaces the configurations of manifests.
  void set_static(const std::vector<Object>& configurations);

 private:
  void publish();
  // Reports the end of the circuit breakers of `replaced`: if a configuration is changed or deleted, its webhooks get new circuit breakers,
  // which are closed.
  void report_closed_circuits(const Hooks& replaced) const;

  const HookType type_;
  const HookParts parts_;
  std::mutex mutex_;
  std::map<std::string, Hooks> by_configuration_;
  kit::Published<Hooks> static_{std::make_shared<const Hooks>()};
  kit::Published<Hooks> merged_{std::make_shared<const Hooks>()};
  std::atomic<bool> any_{false};
};

}  // namespace backplane::admission::webhooks
