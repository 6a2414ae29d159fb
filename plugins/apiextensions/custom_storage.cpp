#include "custom_storage.hpp"

#include "backplane/core/meta.hpp"
#include "backplane/rest/update_info.hpp"

namespace backplane::apiextensions {
namespace {

// A watch that shares ownership of the host's watch, so that Watches can end it when the definition changes.
class SharedStream final : public WatchStream {
 public:
  explicit SharedStream(std::shared_ptr<WatchStream> stream) : stream_(std::move(stream)) {}
  Task<Result<std::vector<WatchEvent>>> next() override { return stream_->next(); }
  void cancel() override { stream_->cancel(); }

 private:
  std::shared_ptr<WatchStream> stream_;
};

// Updates through `below`, and records the write in `tracker`.
Task<Result<UpdateResult>> update_in(WriteTracker tracker, Updater& below, RequestContext& context, std::string name,
                                     UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) {
  Writes::Pass pass = tracker.writes->update(tracker.age);
  auto updating = below.update(context, std::move(name), info, std::move(options), force_allow_create);
  auto updated = co_await std::move(updating);
  if (updated.ok() && updated->object != nullptr) pass.stored(updated->object->revision);
  co_return updated;
}

class CustomStorage final : public StandardStorage {
 public:
  bool admits_writes() const noexcept override { return true; }
  CustomStorage(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteTracker tracker, std::shared_ptr<Watches> watches)
      : stores_(std::move(stores)), version_(version), tracker_(std::move(tracker)), watches_(std::move(watches)) {}

  // ---- facts
  GroupVersionKind kind() const override { return version_.kind; }
  const Schema* schema() const override { return version_.schema.root; }
  bool namespaced() const override { return resource().namespaced; }
  std::string singular_name() const override { return resource().singular; }
  std::vector<std::string> short_names() const override { return resource().short_names; }
  std::vector<std::string> categories() const override { return resource().categories; }
  GroupVersionKind storage_version() const override { return resource().stored().kind; }
  const TableConvertor& table_convertor() const override { return *version_.table; }
  std::string list_kind() const override { return resource().list_kind; }
  std::string deprecation_warning() const override { return version_.deprecation_warning; }
  HostStore* host_store() noexcept override {
    const auto below = stores_->of(version_);
    return below.ok() ? (*below)->objects->host_store() : nullptr;
  }
  std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const override {
    const auto below = stores_->of(version_);
    return below.ok() ? (*below)->objects->field(object, label) : std::nullopt;
  }

  // ---- reads
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    co_return co_await (*below)->objects->get(context, std::move(name), std::move(options));
  }
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    co_return co_await (*below)->objects->list(context, std::move(options));
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    auto opened = co_await (*below)->objects->watch(context, std::move(options));
    if (!opened.ok()) co_return opened;
    const std::shared_ptr<WatchStream> stream = std::move(*opened);
    watches_->add(stream);
    co_return std::make_unique<SharedStream>(stream);
  }

  // ---- writes
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    auto pass = tracker_.writes->create(tracker_.age);
    if (!pass) co_return refused(std::string(meta_name(object)));
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    auto created = co_await (*below)->objects->create(context, object, std::move(options));
    if (created.ok()) pass->stored((*created)->revision);
    co_return created;
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    // An update that may create counts as a create; while creates are refused, it updates the existing object or is refused.
    const std::optional<Writes::Pass> creating = force_allow_create ? tracker_.writes->create(tracker_.age) : std::nullopt;
    auto updating = update_in(tracker_, *(*below)->objects, context, name, info, std::move(options), creating.has_value());
    auto updated = co_await std::move(updating);
    const bool creates = force_allow_create && !creating && !updated.ok() && updated.status().reason() == Reason::kNotFound;
    if (creates) co_return refused(name);
    co_return updated;
  }
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    Writes::Pass pass = tracker_.writes->update(tracker_.age);
    auto removed = co_await (*below)->objects->remove(context, std::move(name), std::move(options));
    if (removed.ok() && removed->object != nullptr) pass.stored(removed->object->revision);
    co_return removed;
  }
  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    Writes::Pass pass = tracker_.writes->update(tracker_.age);
    auto removed = co_await (*below)->objects->remove_collection(context, std::move(options), std::move(list));
    // remove_collection() does not return the revisions at which it has marked objects as deleted. A list now returns a revision that is
    // not lower.
    ListOptions one;
    one.limit = 1;
    auto now = co_await (*below)->objects->list(context, std::move(one));
    if (now.ok()) pass.stored(now->revision);
    co_return removed;
  }

 private:
  const CustomResource& resource() const noexcept { return stores_->resource(); }
  Status refused(const std::string& name) const {
    return forbidden(version_.kind.group, resource().plural, name, "create not allowed while custom resource definition is terminating");
  }

  const std::shared_ptr<const Stores> stores_;
  const CustomVersion& version_;
  const WriteTracker tracker_;
  const std::shared_ptr<Watches> watches_;
};

class CustomStatus final : public SubresourceStorage {
 public:
  bool admits_writes() const noexcept override { return true; }
  CustomStatus(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteTracker tracker)
      : stores_(std::move(stores)), version_(version), tracker_(std::move(tracker)) {}

  GroupVersionKind kind() const override { return version_.kind; }
  const Schema* schema() const override { return version_.schema.root; }
  bool namespaced() const override { return stores_->resource().namespaced; }
  const TableConvertor* subresource_table() const noexcept override { return version_.table.get(); }
  std::string deprecation_warning() const override { return version_.deprecation_warning; }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    co_return co_await (*below)->status->get(context, std::move(name), std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    const auto below = stores_->of(version_);
    if (!below.ok()) co_return below.status();
    co_return co_await update_in(tracker_, *(*below)->status, context, std::move(name), info, std::move(options), force_allow_create);
  }

 private:
  const std::shared_ptr<const Stores> stores_;
  const CustomVersion& version_;
  const WriteTracker tracker_;
};

class CustomScale final : public SubresourceStorage {
 public:
  bool admits_writes() const noexcept override { return true; }
  CustomScale(std::shared_ptr<SubresourceStorage> below, WriteTracker tracker) : below_(std::move(below)), tracker_(std::move(tracker)) {}

  GroupVersionKind kind() const override { return below_->kind(); }
  const Schema* schema() const override { return below_->schema(); }
  bool namespaced() const override { return below_->namespaced(); }
  const TableConvertor* subresource_table() const noexcept override { return below_->subresource_table(); }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    return below_->get(context, std::move(name), std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    return update_in(tracker_, *below_, context, std::move(name), info, std::move(options), force_allow_create);
  }

 private:
  const std::shared_ptr<SubresourceStorage> below_;
  const WriteTracker tracker_;
};

}  // namespace

void Watches::add(const std::shared_ptr<WatchStream>& stream) {
  {
    const std::lock_guard lock(mutex_);
    if (streams_.size() >= swept_at_) {
      streams_.erase(std::remove_if(streams_.begin(), streams_.end(), [](const auto& each) { return each.expired(); }), streams_.end());
      swept_at_ = std::max<std::size_t>(16, streams_.size() * 2);
    }
    if (!ended_) {
      streams_.push_back(stream);
      return;
    }
  }
  stream->cancel();
}

void Watches::end() {
  std::vector<std::weak_ptr<WatchStream>> streams;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    streams.swap(streams_);
  }
  for (const auto& each : streams) {
    if (const auto stream = each.lock()) stream->cancel();
  }
}

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<const Stores> stores, const CustomVersion& version,
                                                     WriteTracker tracker, std::shared_ptr<Watches> watches) {
  return std::make_shared<CustomStorage>(std::move(stores), version, std::move(tracker), std::move(watches));
}

std::shared_ptr<RestStorage> make_custom_status(std::shared_ptr<const Stores> stores, const CustomVersion& version, WriteTracker tracker) {
  return std::make_shared<CustomStatus>(std::move(stores), version, std::move(tracker));
}

std::shared_ptr<RestStorage> make_custom_scale(std::shared_ptr<SubresourceStorage> scale, WriteTracker tracker) {
  return std::make_shared<CustomScale>(std::move(scale), std::move(tracker));
}

}  // namespace backplane::apiextensions
