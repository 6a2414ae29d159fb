#include "app/extension/outer_storage.hpp"

#include <charconv>

#include "backplane/core/json_access.hpp"
#include "backplane/core/request.hpp"

namespace backplane {
namespace {

// client-go's shortest timeout of a watch. The end of a watch reveals a server that has disappeared without closing the connection.
constexpr std::int64_t kWatchSeconds = 300;

// Forwards to a shared stream, and cancels it when the owner destroys this object.
class OwnedStream final : public WatchStream {
 public:
  explicit OwnedStream(std::shared_ptr<WatchStream> stream) : stream_(std::move(stream)) {}
  ~OwnedStream() override { stream_->cancel(); }
  Task<Result<std::vector<WatchEvent>>> next() override { return stream_->next(); }
  void cancel() override { stream_->cancel(); }

 private:
  const std::shared_ptr<WatchStream> stream_;
};

Revision revision_of(const Object& list) {
  const std::string_view text = get_string(object_or_empty(list, "metadata"), "resourceVersion");
  Revision revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

class OuterStorage final : public RestStorage, public Getter, public Lister, public Watcher {
 public:
  OuterStorage(std::shared_ptr<ApiClient> client, GroupVersionResource resource)
      : client_(std::move(client)), resource_(std::move(resource)) {}

  // The kind is not known here, and no caller of these storages needs it; the name of the resource replaces it.
  GroupVersionKind kind() const override { return {resource_.group, resource_.version, resource_.resource}; }
  const Schema* schema() const override { return nullptr; }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    auto getting = client_->get(resource_, context.info.ns, std::move(name), std::move(options));
    auto found = co_await std::move(getting);
    if (!found.ok()) co_return std::move(found).status();
    co_return make_object(*found);
  }
  std::string list_kind() const override { return "List"; }
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override {
    auto listing = client_->list(resource_, context.info.ns, std::move(options));
    auto listed = co_await std::move(listing);
    if (!listed.ok()) co_return std::move(listed).status();
    ListResult result;
    result.revision = revision_of(*listed);
    result.continue_token = get_string(object_or_empty(*listed, "metadata"), "continue");
    std::vector<ObjectRef> items;
    if (const Array* found = get_array(*listed, "items")) {
      for (const Value& item : *found) {
        if (const Object* object = item.if_object()) items.push_back(make_object(*object));
      }
    }
    result.items = make_cursor(std::move(items));
    co_return std::move(result);
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    if (!options.timeout_seconds) options.timeout_seconds = kWatchSeconds;
    auto opening = client_->watch(resource_, context.info.ns, std::move(options));
    auto opened = co_await std::move(opening);
    if (!opened.ok()) co_return std::move(opened).status();
    co_return std::unique_ptr<WatchStream>(std::make_unique<OwnedStream>(std::move(*opened)));
  }

 private:
  const std::shared_ptr<ApiClient> client_;
  const GroupVersionResource resource_;
};

}  // namespace

std::shared_ptr<RestStorage> make_outer_storage(std::shared_ptr<ApiClient> client, GroupVersionResource resource) {
  return std::make_shared<OuterStorage>(std::move(client), std::move(resource));
}

}  // namespace backplane
