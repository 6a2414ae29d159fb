#include "common/services.hpp"

#include "backplane/core/task.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::admission {

ObjectRef Lister::find(std::string_view ns, std::string_view name) const { return informer_->indexer().get(object_key(ns, name)); }

std::vector<ObjectRef> Lister::in_namespace(const std::string& ns) const {
  auto found = informer_->indexer().by_index(kNamespaceIndex, ns);
  return found.ok() ? std::move(*found) : std::vector<ObjectRef>();
}

Task<bool> Lister::wait_synced() const {
  if (!served_) co_return true;
  const auto informer = informer_;
  auto waiting = informer->wait_synced();
  co_return co_await std::move(waiting);
}

Services::Services(Host& host) : host_(host), informers_(host) {}

bool Services::gate(std::string_view name) const { return host_.flag("feature-gates." + std::string(name)) == "true"; }

Lister Services::lister(const GroupVersionResource& resource) {
  if (!host_.resource_enabled(resource)) {
    return Lister(SharedInformer::make(resource.resource, list_watch(host_, resource), host_.logger()), false);
  }
  Lister made(informers_.for_resource(resource));
  if (started_) informers_.start();
  return made;
}

Task<void> Services::run(std::shared_ptr<Services> services) {
  const Promise<bool> begin;
  services->host_.groups_complete().on_fire([begin] { begin.set(true); });
  services->host_.stop_signal().on_fire([begin] { begin.set(false); });
  auto beginning = begin.future();
  const bool running = co_await beginning;
  if (!running) co_return;
  services->started_ = true;
  services->informers_.start();
  auto stopping = services->host_.stop_signal().wait();
  co_await std::move(stopping);
}

}  // namespace backplane::admission
