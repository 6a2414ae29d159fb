// Informers over the storages of this process.
#include "backplane/core/request.hpp"
#include "backplane/host.hpp"
#include "backplane/net/informer.hpp"

namespace backplane BACKPLANE_API {

ListerWatcher::~ListerWatcher() = default;

namespace {

class StorageSource final : public ListerWatcher {
 public:
  using Find = std::function<Result<std::shared_ptr<RestStorage>>()>;
  StorageSource(Find find, std::string ns) : find_(std::move(find)), ns_(std::move(ns)) {}

  bool streams_lists() const noexcept override { return true; }
  Task<Result<Page>> list(ListOptions) override {
    co_return internal_error("storages of this process are not listed: a watch begins with all");
  }

  Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) override {
    auto storage = find_();
    if (!storage.ok()) co_return std::move(storage).status();
    auto* watcher = role_of<Watcher>(*storage);
    if (watcher == nullptr) co_return method_not_allowed("", (*storage)->kind().kind, "watch");
    RequestContext context;
    context.user = UserInfo{"system:apiserver", "", {"system:masters"}, {}};
    context.info.ns = ns_;
    auto opened = co_await watcher->watch(context, std::move(options));
    if (!opened.ok()) co_return std::move(opened).status();
    // The stream holds its storage, which may be removed while it is watched.
    co_return std::shared_ptr<WatchStream>(opened->release(), [kept = *storage](WatchStream* stream) { delete stream; });
  }

 private:
  const Find find_;
  const std::string ns_;
};

}  // namespace

std::shared_ptr<ListerWatcher> list_watch(std::shared_ptr<RestStorage> storage, std::string ns) {
  return std::make_shared<StorageSource>([storage = std::move(storage)]() -> Result<std::shared_ptr<RestStorage>> { return storage; },
                                         std::move(ns));
}

std::shared_ptr<ListerWatcher> list_watch(Host& host, GroupVersionResource resource, std::string ns) {
  const auto find = [&host, resource = std::move(resource)]() -> Result<std::shared_ptr<RestStorage>> {
    auto storage = host.find_storage(resource);
    if (storage == nullptr) return not_found(resource.group, resource.resource, "");
    return storage;
  };
  return std::make_shared<StorageSource>(find, std::move(ns));
}

}  // namespace BACKPLANE_API
