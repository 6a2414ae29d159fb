#include "webhooks/hook_source.hpp"

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
  by_configuration_[std::string(configuration.name())] = std::move(hooks);
  publish();
}

void HookSource::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  by_configuration_.erase(name);
  publish();
}

void HookSource::publish() {
  auto merged = std::make_shared<Hooks>();
  for (const auto& [name, hooks] : by_configuration_) merged->insert(merged->end(), hooks.begin(), hooks.end());
  const bool any = !merged->empty();
  merged_.set(std::move(merged));
  any_.store(any, std::memory_order_release);
}

}  // namespace backplane::admission::webhooks
