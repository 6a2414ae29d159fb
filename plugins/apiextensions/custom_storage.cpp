#include "custom_storage.hpp"

#include <algorithm>

#include "backplane/names.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

class ConvertingCursor final : public ObjectCursor {
 public:
  ConvertingCursor(std::unique_ptr<ObjectCursor> below, std::shared_ptr<const Converter> converter)
      : below_(std::move(below)), converter_(std::move(converter)) {}

  Task<Result<std::span<const ObjectEntry* const>>> next() override {
    auto reading = below_->next();
    auto entries = co_await std::move(reading);
    if (!entries.ok()) co_return entries;
    held_.clear();
    batch_.clear();
    for (const ObjectEntry* entry : *entries) batch_.push_back(shown(entry));
    co_return std::span<const ObjectEntry* const>(batch_);
  }
  bool rewind() override { return below_->rewind(); }

 private:
  const ObjectEntry* shown(const ObjectEntry* entry) {
    if (converter_->is_shown(*entry)) return entry;
    auto converted = converter_->converted(*entry);
    // An object beyond its schema is shown as it is rather than left out.
    if (!converted.ok()) return entry;
    held_.push_back(std::move(*converted));
    return held_.back().get();
  }

  std::unique_ptr<ObjectCursor> below_;
  std::shared_ptr<const Converter> converter_;
  std::vector<ObjectRef> held_;  // what was converted for the batch
  std::vector<const ObjectEntry*> batch_;
};

class ConvertingStream final : public WatchStream {
 public:
  ConvertingStream(std::shared_ptr<WatchStream> below, std::shared_ptr<const Converter> converter)
      : below_(std::move(below)), converter_(std::move(converter)) {}

  Task<Result<std::vector<WatchEvent>>> next() override {
    auto events = co_await below_->next();
    if (!events.ok()) co_return events;
    for (WatchEvent& event : *events) convert(event);
    co_return events;
  }
  void cancel() override { below_->cancel(); }

 private:
  void convert(WatchEvent& event) const {
    if (event.object == nullptr || event.type == WatchEvent::Type::kError) return;
    ObjectRef changed;
    if (event.type == WatchEvent::Type::kBookmark) {
      changed = converter_->bookmark(*event.object);
    } else if (!converter_->is_shown(*event.object)) {
      auto converted = converter_->converted(*event.object);
      if (converted.ok()) changed = std::move(*converted);
    }
    if (changed == nullptr) return;
    event.object = std::move(changed);
  }

  std::shared_ptr<WatchStream> below_;
  std::shared_ptr<const Converter> converter_;
};

// Rules of one version that are checked before an object becomes one of the stored version.
using CheckUpdate = void (*)(const CustomVersion&, const Object&, const Object&, FieldErrors&);

Status invalid(const CustomVersion& version, const Object& object, const FieldErrors& errors) {
  return errors.empty() ? Status() : errors.to_status(version.kind.group, version.kind.kind, meta_name(object));
}

// The new object is computed in the version of the request, and handed down in the stored one.
class ConvertingUpdate final : public UpdatedObjectInfo {
 public:
  ConvertingUpdate(const Converter& converter, UpdatedObjectInfo& inner, CheckUpdate check)
      : converter_(converter), inner_(inner), check_(check) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    Object before(context.arena());
    if (existing != nullptr) {
      before = Object(*existing, context.arena());
      Status done = converter_.to_version(before);
      if (!done.ok()) co_return done;
    }
    auto wanted = co_await inner_.updated_object(context, existing ? &before : nullptr);
    if (!wanted.ok()) co_return wanted;
    if (converter_.version().stored) co_return wanted;
    Status valid = check(*wanted, existing ? &before : nullptr);
    if (!valid.ok()) co_return valid;
    Status done = converter_.to_stored(*wanted);
    if (!done.ok()) co_return done;
    co_return wanted;
  }
  Preconditions preconditions() const override { return inner_.preconditions(); }

 private:
  Status check(const Object& object, const Object* before) const {
    FieldErrors errors;
    if (before != nullptr)
      check_(converter_.version(), object, *before, errors);
    else
      validate_custom(converter_.version(), object, errors);
    return invalid(converter_.version(), object, errors);
  }

  const Converter& converter_;
  UpdatedObjectInfo& inner_;
  CheckUpdate check_;
};

Task<Result<UpdateResult>> update_through(Updater& below, const Converter& converter, CheckUpdate check, RequestContext& context,
                                          std::string name, UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) {
  ConvertingUpdate converting(converter, info, check);
  auto updated = co_await below.update(context, std::move(name), converting, std::move(options), force_allow_create);
  if (!updated.ok()) co_return updated;
  auto shown = converter.shown(std::move(updated->object));
  if (!shown.ok()) co_return std::move(shown.status());
  updated->object = std::move(*shown);
  co_return updated;
}

class CustomStorage final : public StandardStorage, public DeprecationProvider {
 public:
  CustomStorage(std::shared_ptr<StandardStorage> store, std::shared_ptr<const Converter> converter, Terminating terminating,
                std::shared_ptr<Watches> watches)
      : store_(std::move(store)), converter_(std::move(converter)), terminating_(std::move(terminating)), watches_(std::move(watches)) {}

  GroupVersionKind kind() const override { return version().kind; }
  const Schema* schema() const override { return version().schema.root; }
  bool namespaced() const override { return resource().namespaced; }
  std::string singular_name() const override { return resource().singular; }
  std::vector<std::string> short_names() const override { return resource().short_names; }
  std::vector<std::string> categories() const override { return resource().categories; }
  GroupVersionKind storage_version() const override { return resource().stored().kind; }
  const TableConvertor& table_convertor() const override { return *version().table; }
  std::string list_kind() const override { return resource().list_kind; }
  std::string deprecation_warning() const override { return version().deprecation_warning; }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    auto found = co_await store_->get(context, std::move(name), std::move(options));
    if (!found.ok()) co_return found;
    co_return converter_->shown(std::move(*found));
  }

  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override {
    Status known = check_fields(options);
    if (!known.ok()) co_return known;
    auto listed = co_await store_->list(context, std::move(options));
    if (listed.ok()) listed->items = std::make_unique<ConvertingCursor>(std::move(listed->items), converter_);
    co_return listed;
  }

  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    Status known = check_fields(options);
    if (!known.ok()) co_return known;
    auto opened = co_await store_->watch(context, std::move(options));
    if (!opened.ok()) co_return opened;
    const std::shared_ptr<WatchStream> stream = std::move(*opened);
    watches_->add(stream);
    co_return std::unique_ptr<WatchStream>(std::make_unique<ConvertingStream>(stream, converter_));
  }

  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    if (terminating_->load(std::memory_order_relaxed)) co_return refused_while_terminating();
    if (!version().stored) {
      Status valid = check_new(object);
      if (!valid.ok()) co_return valid;
      Status done = converter_->to_stored(object);
      if (!done.ok()) co_return done;
    }
    auto created = co_await store_->create(context, object, std::move(options));
    if (!created.ok()) co_return created;
    co_return converter_->shown(std::move(*created));
  }

  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    co_return co_await update_through(*store_, *converter_, validate_custom_update, context, std::move(name), info, std::move(options),
                                      force_allow_create);
  }

  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    auto removed = co_await store_->remove(context, std::move(name), std::move(options));
    if (!removed.ok()) co_return removed;
    auto shown = converter_->shown(std::move(removed->object));
    if (!shown.ok()) co_return std::move(shown.status());
    removed->object = std::move(*shown);
    co_return removed;
  }

  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override {
    auto removed = co_await store_->remove_collection(context, std::move(options), std::move(list));
    if (removed.ok()) removed->items = std::make_unique<ConvertingCursor>(std::move(removed->items), converter_);
    co_return removed;
  }

 private:
  const CustomResource& resource() const { return converter_->resource(); }
  const CustomVersion& version() const { return converter_->version(); }

  // The store below knows the labels of all versions; this one has its own.
  Status check_fields(const ListOptions& options) const {
    for (const FieldSelector::Requirement& requirement : options.fields.requirements()) {
      const std::string& label = requirement.field;
      if (label == "metadata.name" || (label == "metadata.namespace" && resource().namespaced)) continue;
      const auto& fields = version().fields;
      const bool known = std::any_of(fields.begin(), fields.end(), [&](const SelectableField& field) { return field.label == label; });
      if (!known) return bad_request("field label not supported: " + label);
    }
    return {};
  }

  Status check_new(const Object& object) const {
    FieldErrors errors;
    validate_custom(version(), object, errors);
    return invalid(version(), object, errors);
  }

  Status refused_while_terminating() const {
    Status refused = method_not_allowed(resource().group, resource().plural, "create");
    refused.set_message("create not allowed while custom resource definition is terminating");
    return refused;
  }

  std::shared_ptr<StandardStorage> store_;
  std::shared_ptr<const Converter> converter_;
  Terminating terminating_;
  std::shared_ptr<Watches> watches_;
};

class CustomStatus final : public RestStorage,
                           public Scoper,
                           public TableProvider,
                           public Getter,
                           public Updater,
                           public DeprecationProvider {
 public:
  CustomStatus(std::shared_ptr<RestStorage> below, std::shared_ptr<const Converter> converter)
      : below_(std::move(below)),
        getter_(dynamic_cast<Getter&>(*below_)),
        updater_(dynamic_cast<Updater&>(*below_)),
        converter_(std::move(converter)) {}

  GroupVersionKind kind() const override { return converter_->version().kind; }
  const Schema* schema() const override { return converter_->version().schema.root; }
  bool namespaced() const override { return converter_->resource().namespaced; }
  const TableConvertor& table_convertor() const override { return *converter_->version().table; }
  std::string deprecation_warning() const override { return converter_->version().deprecation_warning; }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    auto found = co_await getter_.get(context, std::move(name), std::move(options));
    if (!found.ok()) co_return found;
    co_return converter_->shown(std::move(*found));
  }

  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    co_return co_await update_through(updater_, *converter_, validate_custom_status, context, std::move(name), info, std::move(options),
                                      force_allow_create);
  }

 private:
  std::shared_ptr<RestStorage> below_;
  Getter& getter_;
  Updater& updater_;
  std::shared_ptr<const Converter> converter_;
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

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<StandardStorage> store, std::shared_ptr<const Converter> converter,
                                                     Terminating terminating, std::shared_ptr<Watches> watches) {
  return std::make_shared<CustomStorage>(std::move(store), std::move(converter), std::move(terminating), std::move(watches));
}

std::shared_ptr<RestStorage> make_custom_status(std::shared_ptr<RestStorage> status, std::shared_ptr<const Converter> converter) {
  return std::make_shared<CustomStatus>(std::move(status), std::move(converter));
}

}  // namespace backplane::apiextensions
