#include "registry/converting_store.hpp"

#include "registry/converting_reads.hpp"
#include "registry/converting_writes.hpp"
#include "registry/scheme_converter.hpp"

namespace backplane::registry {
namespace {

class ConvertingStore final : public ServedStore {
 public:
  ConvertingStore(std::shared_ptr<ObjectStore> below, ResourceConfig config, std::shared_ptr<const Conversion> conversion,
                  std::shared_ptr<const TableConvertor> table)
      : below_(std::move(below)),
        names_(names_of(config, below_->config())),
        served_names_{std::move(config.kind), std::move(config.resource)},
        schema_(config.schema),
        schemas_(std::move(config.schemas)),
        strategy_(std::move(config.strategy)),
        deprecation_warning_(std::move(config.deprecation_warning)),
        conversion_(std::move(conversion)),
        table_(std::move(table)),
        manager_(served_names_.kind, schema_, below_->versions(), written_fields_of(speaker())) {}

  // ---- facts
  GroupVersionKind kind() const override { return served_names_.kind; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return below_->namespaced(); }
  bool returns_deleted() const noexcept override { return below_->returns_deleted(); }
  bool deletes_collections() const override { return below_->deletes_collections(); }
  std::string singular_name() const override { return names_ ? names_->singular : below_->singular_name(); }
  std::vector<std::string> short_names() const override { return names_ ? names_->short_names : below_->short_names(); }
  std::vector<std::string> categories() const override { return names_ ? names_->categories : below_->categories(); }
  GroupVersionKind storage_version() const override { return below_->storage_version(); }
  const TableConvertor& table_convertor() const override { return *table_; }
  std::optional<std::string_view> field(const ObjectEntry& object, std::string_view label) const override {
    const auto stored = conversion_->stored_field_label(label);
    return stored.ok() ? below_->field(object, *stored) : std::nullopt;
  }
  std::string list_kind() const override { return names_ ? names_->list_kind : below_->list_kind(); }
  std::string deprecation_warning() const override { return deprecation_warning_; }

  // ---- ObjectDefaulter
  void set_defaults(Value& object) const override {
    if (schema_ != nullptr) schema_->apply_defaults(object);
    if (strategy_ != nullptr && object.is_object()) strategy_->apply_defaults(object.get_object());
  }

  // ---- ServedStore
  ObjectStore& stored() noexcept override { return *below_; }
  const ServedNames& served_names() const noexcept override { return served_names_; }
  const Strategy* view_strategy() const noexcept override { return strategy_.get(); }
  const FieldManager& fields() const noexcept override { return manager_; }
  std::shared_ptr<const FieldVersions> versions() const noexcept override { return below_->versions(); }

  // ---- reads
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    auto found = co_await below_->get_as(mode(), context, std::move(name), std::move(options));
    if (!found.ok()) co_return found;
    co_return co_await conversion_->shown(std::move(*found));
  }

  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override {
    Status known = translate(options);
    if (!known.ok()) co_return known;
    auto listed = co_await below_->list(context, std::move(options));
    if (listed.ok()) listed->items = converting_cursor(std::move(listed->items), conversion_);
    co_return listed;
  }

  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    Status known = translate(options);
    if (!known.ok()) co_return known;
    auto stream = co_await below_->watch(context, std::move(options));
    if (!stream.ok()) co_return stream;
    co_return converting_stream(std::move(*stream), conversion_);
  }

  // ---- writes
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    return offloaded(blocking_calls(), create_converted(context, object, std::move(options)));
  }
  Task<Result<ObjectRef>> create_converted(RequestContext& context, Object& object, WriteOptions options) {
    ConvertingWrite write(*this, *conversion_, view_strategy(), mode(), context, options);
    auto stored = co_await write.to_create(object);
    if (!stored.ok()) co_return std::move(stored.status());
    auto created = co_await below_->create_as(write.mode(), context, *stored, std::move(options));
    if (!created.ok()) co_return created;
    co_return co_await conversion_->shown(std::move(*created));
  }

  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    co_return co_await update_through(mode(), view_strategy(), context, std::move(name), info, std::move(options), force_allow_create);
  }

  Task<Result<UpdateResult>> update_through(WriteMode mode, const Strategy* view_strategy, RequestContext& context, std::string name,
                                            UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) override {
    return offloaded(blocking_calls(),
                     update_converted(mode, view_strategy, context, std::move(name), info, std::move(options), force_allow_create));
  }
  Task<Result<UpdateResult>> update_converted(WriteMode mode, const Strategy* view_strategy, RequestContext& context, std::string name,
                                              UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) {
    mode.served_names = &served_names_;
    ConvertingWrite write(*this, *conversion_, view_strategy, mode, context, options);
    ConvertingUpdate converting(write, info);
    auto updated = co_await below_->update_as(write.mode(), context, std::move(name), converting, std::move(options), force_allow_create);
    if (!updated.ok()) co_return updated;
    auto shown = co_await conversion_->shown(std::move(updated->object));
    if (!shown.ok()) co_return std::move(shown.status());
    updated->object = std::move(*shown);
    co_return updated;
  }

  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    ConvertingWrite write(*this, *conversion_, view_strategy(), mode(), context);
    std::string ns = namespaced() ? context.info.ns : std::string();
    auto removed = co_await below_->remove_as(write.mode(), context, std::move(ns), std::move(name), std::move(options));
    if (!removed.ok()) co_return removed;
    auto shown = co_await conversion_->shown(std::move(removed->object));
    if (!shown.ok()) co_return std::move(shown.status());
    removed->object = std::move(*shown);
    co_return removed;
  }

  Task<Result<ListResult>> remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) override {
    Status known = translate(list);
    if (!known.ok()) co_return known;
    ConvertingWrite write(*this, *conversion_, view_strategy(), mode(), context);
    auto removed = co_await below_->remove_collection_as(write.mode(), context, std::move(options), std::move(list));
    if (removed.ok()) removed->items = converting_cursor(std::move(removed->items), conversion_);
    co_return removed;
  }

 private:
  // Both versions have strategies of the same plugin, so the BlockingCalls of the stored version apply.
  const BlockingCalls* blocking_calls() const noexcept { return below_->blocking_calls(); }

  WriteMode mode() const {
    WriteMode mode = below_->default_mode();
    mode.served_names = &served_names_;
    mode.fields = &manager_;
    return mode;
  }

  // The strategy that determines which fields a write may change: the strategy of this version if it has written_fields(), otherwise that
  // of the stored version.
  const Strategy* speaker() const {
    const bool says = strategy_ != nullptr && strategy_->written_fields().has_value();
    return says ? strategy_.get() : below_->config().strategy.get();
  }

  // Replaces field labels by those of the stored version.
  Status translate(ListOptions& options) const {
    if (options.fields.empty()) return {};
    auto translated = options.fields.renamed([this](std::string_view label) { return conversion_->stored_field_label(label); });
    if (!translated.ok()) return std::move(translated.status());
    options.fields = std::move(*translated);
    return {};
  }

  // The resource's names in this version, if they differ from those of the stored version.
  struct Names {
    std::string singular;
    std::vector<std::string> short_names;
    std::vector<std::string> categories;
    std::string list_kind;
    bool operator==(const Names&) const = default;
  };
  static std::unique_ptr<const Names> names_of(const ResourceConfig& config, const ResourceConfig& stored) {
    const auto names = [](const ResourceConfig& of) { return Names{of.singular, of.short_names, of.categories, of.list_kind}; };
    return names(config) == names(stored) ? nullptr : std::make_unique<const Names>(names(config));
  }

  std::shared_ptr<ObjectStore> below_;
  const std::unique_ptr<const Names> names_;
  const ServedNames served_names_;
  const Schema* const schema_;
  const std::shared_ptr<const SchemaSet> schemas_;
  const std::shared_ptr<const Strategy> strategy_;
  const std::string deprecation_warning_;
  std::shared_ptr<const Conversion> conversion_;
  std::shared_ptr<const TableConvertor> table_;
  FieldManager manager_;
};

// The columns of the strategy of this version; null: it has no strategy, or the default columns.
std::shared_ptr<const TableConvertor> own_table(const ResourceConfig& config) {
  if (config.strategy == nullptr || &config.strategy->table_convertor() == &default_table_convertor()) return nullptr;
  return {config.strategy, &config.strategy->table_convertor()};
}

}  // namespace

std::shared_ptr<StandardStorage> make_converting_store(std::shared_ptr<ObjectStore> below, ResourceConfig config,
                                                       std::shared_ptr<StoreEnvironment::State> environment) {
  const ResourceConfig& stored = below->config();
  auto table = own_table(config);
  std::shared_ptr<const ObjectConverter> converter = config.converter;
  if (converter == nullptr) converter = std::make_shared<SchemeConverter>(environment, stored.strategy);
  if (table == nullptr && config.converter == nullptr) {
    table = std::make_shared<StoredTable>(below, config.kind, std::move(environment));
  } else if (table == nullptr) {
    // The columns of the stored version cannot be used, because printing cannot wait for a converter, which may be a webhook.
    table = std::shared_ptr<const TableConvertor>(std::shared_ptr<void>(), &default_table_convertor());
  }
  auto conversion = std::make_shared<const Conversion>(VersionForm{config.kind, config.schema, config.schemas},
                                                       VersionForm{stored.kind, stored.schema, stored.schemas}, std::move(converter));
  below->add_view(conversion);
  return std::make_shared<ConvertingStore>(std::move(below), std::move(config), std::move(conversion), std::move(table));
}

}  // namespace backplane::registry
