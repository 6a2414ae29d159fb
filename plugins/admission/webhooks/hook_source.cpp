#include "webhooks/hook_source.hpp"

#include "webhooks/circuit_report.hpp"

namespace backplane::admission::webhooks {

void HookSource::follow(SharedInformer& informer) {
  ResourceEventHandler handler;
  handler.on_add = [self = shared_from_this()](const ObjectRef& object, bool) { self->put(*object); };
  handler.on_update = [self = shared_from_this()](const ObjectRef& old, const ObjectRef& now) {
    if (old->revision != now->revision) self->put(*now);
  };
  handler.on_delete = [self = shared_from_this()](const ObjectRef& last, bool) { self->remove(std::string(last->name())); };
  informer.add_event_handler(std::move(handler));
}

void HookSource::put(const ObjectEntry& configuration) {
  const Object object = decode(configuration, json::make_shared_resource<json::monotonic_resource>());
  Hooks hooks = read_hooks(object, type_, parts_);
  const std::lock_guard lock(mutex_);
  Hooks& present = by_configuration_[std::string(configuration.name())];
  report_closed_circuits(present);
  present = std::move(hooks);
  publish();
}

void HookSource::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_configuration_.find(name);
  if (found == by_configuration_.end()) return;
  report_closed_circuits(found->second);
  by_configuration_.erase(found);
  publish();
}

void HookSource::report_closed_circuits(const Hooks& replaced) const {
  for (const HookRef& hook : replaced) {
    if (hook->breaker == nullptr || !hook->breaker->open()) continue;
    report_circuit(parts_.host, *hook, CircuitBreaker::Change::kClosed, "its configuration has changed");
  }
}

void HookSource::set_static(const std::vector<Object>& configurations) {
  auto hooks = std::make_shared<Hooks>();
  for (const Object& configuration : configurations) {
    for (HookRef& hook : read_hooks(configuration, type_, parts_, "manifest/")) hooks->push_back(std::move(hook));
  }
  const std::lock_guard lock(mutex_);
  static_.set(std::move(hooks));
  publish();
}

void HookSource::publish() {
  auto merged = std::make_shared<Hooks>(*static_.get());
  for (const auto& [name, hooks] : by_configuration_) merged->insert(merged->end(), hooks.begin(), hooks.end());
  const bool any = !merged->empty();
  merged_.set(std::move(merged));
  any_.store(any, std::memory_order_release);
}

}  // namespace backplane::admission::webhooks
