// The informers of one plugin.
#include <mutex>

#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"

namespace backplane BACKPLANE_API {

struct SharedInformerFactory::State {
  struct Row {
    std::shared_ptr<SharedInformer> informer;
    bool started = false;
  };

  State(Host& host_in, std::chrono::nanoseconds resync_in) : host(host_in), resync(resync_in) {}

  Host& host;
  const std::chrono::nanoseconds resync;
  std::mutex mutex;
  std::map<std::string, Row> rows;
  bool stopped = false;

  std::vector<std::shared_ptr<SharedInformer>> started() {
    std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<SharedInformer>> out;
    for (const auto& [_, row] : rows) {
      if (row.started) out.push_back(row.informer);
    }
    return out;
  }
  void stop() {
    std::vector<std::shared_ptr<SharedInformer>> all;
    {
      std::lock_guard lock(mutex);
      stopped = true;
      for (const auto& [_, row] : rows) all.push_back(row.informer);
    }
    for (const auto& informer : all) informer->stop();
  }
};

SharedInformerFactory::SharedInformerFactory(Host& host, std::chrono::nanoseconds resync) : state_(std::make_shared<State>(host, resync)) {
  host.stop_signal().on_fire([weak = std::weak_ptr<State>(state_)] {
    if (auto state = weak.lock()) state->stop();
  });
}
SharedInformerFactory::~SharedInformerFactory() { state_->stop(); }
void SharedInformerFactory::shut_down() { state_->stop(); }

std::shared_ptr<SharedInformer> SharedInformerFactory::for_resource(const GroupVersionResource& resource, const std::string& ns) {
  std::string name = resource.resource + "." + resource.version + "." + resource.group;
  if (!ns.empty()) name += "/" + ns;
  return for_source(name, list_watch(state_->host, resource, ns));
}

std::shared_ptr<SharedInformer> SharedInformerFactory::for_source(const std::string& name, std::shared_ptr<ListerWatcher> source) {
  std::lock_guard lock(state_->mutex);
  State::Row& row = state_->rows[name];
  if (!row.informer) row.informer = SharedInformer::make(name, std::move(source), state_->host.logger());
  return row.informer;
}

void SharedInformerFactory::start() {
  std::vector<std::pair<std::string, std::shared_ptr<SharedInformer>>> fresh;
  {
    std::lock_guard lock(state_->mutex);
    for (auto& [name, row] : state_->rows) {
      if (state_->stopped || std::exchange(row.started, true)) continue;
      fresh.emplace_back(name, row.informer);
    }
  }
  for (const auto& [name, informer] : fresh) {
    state_->host.spawn("informer/" + name, informer->run());
    if (state_->resync > std::chrono::nanoseconds::zero()) state_->host.spawn("resync/" + name, informer->run_resync(state_->resync));
  }
}

Task<bool> SharedInformerFactory::wait_for_cache_sync() {
  const auto state = state_;
  const auto all = state->started();
  bool synced = true;
  for (const auto& informer : all) {
    const bool one = co_await informer->wait_synced();
    synced = synced && one;
  }
  co_return synced;
}

}  // namespace BACKPLANE_API
