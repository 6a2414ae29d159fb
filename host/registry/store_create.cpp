// create: runs mutating admission, preparation, validation and validating admission, and then one transaction, which requires that the key
// does not exist.
#include <optional>

#include "registry/fields/guarded_admission.hpp"
#include "registry/fields/managers.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"
#include "registry/store_commit.hpp"
#include "registry/store_span.hpp"

namespace backplane::registry {
namespace {

// The number of generated names that are tried if names are taken. If a prefix has a million names, 0.1 % of the creates fail.
constexpr int kMaxGeneratedNames = 8;

bool needs_name(const Object& object) { return meta_name(object).empty() && !meta_text(object, "generateName").empty(); }

bool is_deleting(const ObjectEntry& entry) {
  json::monotonic_resource arena;
  const Object object = decode(entry, &arena);
  return !meta_text(object, "deletionTimestamp").empty();
}

bool is_deleting(const Backing& backing, const KeyValue& found) {
  return !found.unreadable && is_deleting(*backing.cache->make_entry(found));
}

// The error of a create whose key exists.  The wording depends on whether `found`, the existing object, is being deleted.
Status taken(const ServedNames& served_names, const Backing& backing, const Object& object, const std::optional<KeyValue>& found) {
  return exists_error(served_names, object, found && is_deleting(backing, *found));
}

}  // namespace

void ObjectStore::set_defaults(Value& object) const {
  if (config_.schema != nullptr) config_.schema->apply_defaults(object);
  if (object.is_object()) config_.strategy->apply_defaults(object.get_object());
}

Task<Result<ObjectRef>> ObjectStore::create(RequestContext& context, Object& object, WriteOptions options) {
  return offloaded(blocking_calls_, create_as(default_mode(), context, object, std::move(options)));
}

Task<Result<ObjectRef>> ObjectStore::create_as(WriteMode mode, RequestContext& context, Object& object, WriteOptions options) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();

  wipe_system_fields(object);
  Status scoped = ensure_namespace(object, keys_.namespaced() ? std::string_view(context.info.ns) : std::string_view());
  if (!scoped.ok()) co_return scoped;
  mode.strategy->apply_defaults(object);
  // Used by mutating and by validating admission; nullopt: admission does not apply.
  std::optional<AdmissionAttributes> attributes;
  if (context.info.is_resource_request) dedupe_owner_references(context, object, false);
  if (mode.fields != nullptr) co_await mode.fields->track_new(context, options, object);
  if (context.info.is_resource_request) {
    attributes.emplace(this->attributes(mode, context, AdmissionOperation::kCreate, meta_name(object)));
    attributes->object = &object;
    attributes->options = options;
    attributes->dry_run = options.dry_run;
    Status admitted = co_await guarded_admit(admission_of(mode, *backing), *attributes, context, sorted_keys());
    if (!admitted.ok()) co_return admitted;
    dedupe_owner_references(context, object, true);
  }
  AdmissionAttributes* const shown = attributes ? &*attributes : nullptr;
  if (!needs_name(object)) co_return co_await create_fitting(mode, *backing, context, object, options, shown);

  const std::size_t warnings = context.warning_count();
  for (int attempt = 1;; ++attempt) {
    context.take_back_warnings(warnings);
    Object copy(object, object.storage());
    if (shown != nullptr) shown->name.clear();  // removes the name of the last attempt
    auto created = co_await create_fitting(mode, *backing, context, copy, options, shown);
    const bool again = !created.ok() && created.status().reason() == Reason::kAlreadyExists && attempt < kMaxGeneratedNames;
    if (!again) co_return created;
  }
}

Task<Result<ObjectRef>> ObjectStore::create_fitting(WriteMode mode, const Backing& backing, RequestContext& context, Object& object,
                                                    const WriteOptions& options, AdmissionAttributes* attributes) {
  const std::size_t warnings = context.warning_count();
  auto created = co_await create_once(mode, backing, context, object, options, attributes);
  if (created.ok() || !too_large(created.status()) || managed_fields_of(object) == nullptr) co_return created;
  context.take_back_warnings(warnings);
  put_managed_fields(object, nullptr, sorted_keys());
  created = co_await create_once(mode, backing, context, object, options, attributes);
  co_return created;
}

Task<Result<ObjectRef>> ObjectStore::create_once(WriteMode mode, const Backing& backing, RequestContext& context, Object& object,
                                                 const WriteOptions& options, AdmissionAttributes* attributes) {
  fill_system_fields(object);
  if (needs_name(object)) ObjectMeta(object).set("name", generate_name(meta_text(object, "generateName")));
  const StoreHooks* hooks = config_.hooks.get();
  if (hooks == nullptr) co_return co_await store_new(mode, backing, context, object, options, attributes, nullptr);

  const std::size_t warnings = context.warning_count();
  for (;;) {
    if (expired(context)) co_return deadline_error();
    context.take_back_warnings(warnings);
    Object copy(object, object.storage());
    auto begun = co_await hooks->begin_create(context, copy, options.dry_run);
    if (!begun.ok()) co_return std::move(begun.status());
    auto stored = co_await store_new(mode, backing, context, copy, options, attributes, begun->get());
    const bool stale = stored.ok() && *stored == nullptr;
    const bool kept = stored.ok() && !stale && !options.dry_run;
    if (*begun != nullptr) co_await (*begun)->finish(kept);
    if (stale) continue;
    if (kept) hooks->after_create(context, *stored);
    co_return stored;
  }
}

Task<Result<ObjectRef>> ObjectStore::store_new(WriteMode mode, const Backing& backing, RequestContext& context, Object& object,
                                               const WriteOptions& options, AdmissionAttributes* attributes, BegunWrite* begun) {
  Status prepared = before_create(config_, mode, gated(backing), context, object);
  if (!prepared.ok()) co_return prepared;

  auto key = keys_.key(meta_namespace(object), meta_name(object));
  if (!key.ok()) co_return std::move(key.status());
  if (attributes != nullptr) {
    attributes->object = &object;
    if (attributes->name.empty()) attributes->name = meta_name(object);
    Status allowed = co_await guarded_validate(admission_of(mode, backing), *attributes);
    if (!allowed.ok()) co_return allowed;
  }

  if (options.dry_run) {
    auto stored = co_await read_stored(backing, *key);
    if (!stored.ok()) co_return std::move(stored.status());
    if (*stored != nullptr) co_return exists_error(*mode.served_names, object, is_deleting(**stored));
    co_return unstored(*key, object);
  }
  auto version = parse_resource_version(meta_text(object, "resourceVersion"));
  if (version.ok() && *version != 0) co_return Status(500, Reason::kNone, "resourceVersion should not be set on objects to be created");

  auto leased = co_await lease(backing);
  if (!leased.ok()) co_return std::move(leased.status());
  TraceSpan span(&context, "Create etcd3");
  describe_write(span, context, config_, *key);
  span.step("About to Encode");
  KeyValue stored;
  stored.key = *key;
  stored.value = encode_for_storage(object);
  span.step("Encode succeeded", "len", static_cast<std::int64_t>(stored.value.size()));
  ObjectChange change;
  change.key = *key;
  change.value = stored.value;
  change.lease = *leased;
  Joining joining{begun, attributes != nullptr ? &admission_of(mode, backing) : nullptr, attributes};
  auto committed = co_await commit(backing, context, std::move(change), joining);
  step_of_commit(span, committed, "Txn call succeeded");
  if (!committed.ok()) co_return std::move(committed.status());
  if (committed->end == CommitEnd::kStale) co_return ObjectRef();
  if (committed->end == CommitEnd::kMoved) co_return taken(*mode.served_names, backing, object, committed->found);
  stored.create_revision = committed->revision;
  stored.mod_revision = committed->revision;
  co_return backing.cache->make_written(stored);
}

}  // namespace backplane::registry
