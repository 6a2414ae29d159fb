// Sources of informers that read the storages of this process.
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
  // Lists are needed although watches can begin with a list: a storage may forward to another server (backplane-runner), which may refuse
  // such a watch.
  Task<Result<Page>> list(ListOptions options) override {
    auto storage = find_();
    if (!storage.ok()) co_return std::move(storage).status();
    auto* lister = role_of<Lister>(*storage);
    if (lister == nullptr) co_return method_not_allowed("", (*storage)->kind().kind, "list");
    RequestContext context;
    identify(context);
    auto listing = lister->list(context, std::move(options));
    auto listed = co_await std::move(listing);
    if (!listed.ok()) co_return std::move(listed).status();
    Page page;
    page.revision = listed->revision;
    page.continue_token = std::move(listed->continue_token);
    // Copies the entry, because an entry of the cursor is valid only until the next batch.
    const auto add = [&page](const ObjectEntry& entry) { page.items.push_back(std::make_shared<ObjectEntry>(entry)); };
    auto reading = for_each(*listed->items, add);
    Status read = co_await std::move(reading);
    if (!read.ok()) co_return read;
    co_return page;
  }

  Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) override {
    auto storage = find_();
    if (!storage.ok()) co_return std::move(storage).status();
    auto* watcher = role_of<Watcher>(*storage);
    if (watcher == nullptr) co_return method_not_allowed("", (*storage)->kind().kind, "watch");
    RequestContext context;
    identify(context);
    auto opened = co_await watcher->watch(context, std::move(options));
    if (!opened.ok()) co_return std::move(opened).status();
    // The stream shares ownership of the storage, which may be removed while it is watched.
    co_return std::shared_ptr<WatchStream>(opened->release(), [kept = *storage](WatchStream* stream) { delete stream; });
  }

 private:
  void identify(RequestContext& context) const {
    context.user = UserInfo{"system:apiserver", "", {"system:masters"}, {}};
    context.info.ns = ns_;
  }

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
