// delete: marks the object as being deleted if it has finalizers or a grace period; otherwise removes it.
#include "engine/raw_json.hpp"
#include "registry/guaranteed_update.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {
namespace {

// One delete with all its attempts.
class DeleteOperation final : public GuaranteedUpdate<DeleteOperation, DeleteResult> {
 public:
  DeleteOperation(ObjectStore& store, const Backing& backing, WriteMode mode, RequestContext& context, std::string ns, std::string name,
                  std::string key, DeleteOptions options)
      : GuaranteedUpdate(store, backing, context, std::move(name), std::move(key), options.dry_run),
        mode_(mode),
        ns_(std::move(ns)),
        options_(std::move(options)) {}

  Task<Attempt> attempt();

 private:
  Attempt done(ObjectRef object, bool deleted, bool return_object) const {
    DeleteResult result;
    result.object = std::move(object);
    result.deleted = deleted;
    result.return_object = return_object;
    return std::optional<DeleteResult>(std::move(result));
  }

  Status shape(Object& object) const;
  Task<Attempt> keep(Object object, bool remove_next);
  Task<Attempt> remove_now();
  Task<Status> admission(const Object& object);
  AdmissionAttributes attributes() const;
  bool mark(Object& object, Grace grace, bool has_other_finalizers) const;
  bool returns_object() const { return store_.returns_deleted(); }

  WriteMode mode_;
  std::string ns_;
  DeleteOptions options_;
  DeleteOptions decided_;  // options_ with the grace period that the strategy has set
  ObjectRef marked_;       // the object that this operation has marked and will remove; null: none
};

AdmissionAttributes DeleteOperation::attributes() const {
  AdmissionAttributes attributes = store_.attributes(mode_, context_, AdmissionOperation::kDelete, name_);
  if (store_.namespaced()) attributes.ns = ns_;
  if (mode_.of_collection) attributes.name.clear();
  attributes.options = decided_;
  attributes.dry_run = options_.dry_run;
  return attributes;
}

Task<Status> DeleteOperation::admission(const Object& object) {
  if (!context_.info.is_resource_request) co_return Status();
  AdmissionAttributes attributes = this->attributes();
  attributes.old_object = &object;
  Status admitted = co_await admission_of(mode_, backing_).admit(attributes);
  if (!admitted.ok()) co_return admitted;
  co_return co_await admission_of(mode_, backing_).validate(attributes);
}

// Marks an object that is not removed now.  True: the object was changed.
bool DeleteOperation::mark(Object& object, Grace grace, bool has_other_finalizers) const {
  ObjectMeta meta(object);
  if (grace == Grace::kGraceful) {
    store_.config().strategy->mark_deleting(object);
    return true;
  }
  const bool first = meta.deletion_timestamp().empty();
  bool changed = first;
  if (!has_other_finalizers) changed = mark_as_deleting(object);
  // Kinds with other finalizers (namespaces: spec.finalizers) get only a deletionTimestamp: no grace period and no new generation.
  else if (first)
    meta.set("deletionTimestamp", now_rfc3339());
  if (first) store_.config().strategy->mark_deleting(object);
  return changed;
}

Task<DeleteOperation::Attempt> DeleteOperation::attempt() {
  if (entry_ == nullptr) {
    // This operation has marked the object, and another writer has completed the removal.
    if (marked_ != nullptr) co_return done(marked_, true, returns_object());
    co_return not_found_error(*mode_.served_names, name_);
  }
  // One deletecollection request may delete thousands of objects, so each has a separate arena.
  Object object = decode_kept(*entry_, store_.config().schema, json::make_shared_resource<json::monotonic_resource>());
  const Strategy& strategy = *store_.config().strategy;
  decided_ = options_;
  auto grace = before_delete(store_.config(), context_, object, decided_);
  if (!grace.ok()) co_return std::move(grace.status());
  Status allowed = strategy.validate_delete(context_, object);
  if (!allowed.ok()) co_return allowed;
  if (*grace == Grace::kPending) co_return done(entry_, false, returns_object());
  // Admission gets the object as it is stored, without the marks of the deletion.
  std::optional<Object> stored;
  if (*grace == Grace::kGraceful) stored = decode_kept(*entry_, store_.config().schema, object.storage());
  auto asking = admission(stored ? *stored : object);
  Status admitted = co_await std::move(asking);
  if (!admitted.ok()) co_return admitted;

  const bool has_other_finalizers = strategy.held_by_other_finalizers(object);
  const bool collector = backing_.settings->garbage_collection && set_collector_finalizers(strategy, object, decided_);
  const bool held = has_other_finalizers || !ObjectMeta(object).finalizers().empty();
  if (!held && *grace == Grace::kNone) co_return co_await remove_now();
  const bool marked = mark(object, *grace, has_other_finalizers);
  if (!marked && !collector) co_return done(entry_, false, true);
  const bool remove_next = !held && decided_.grace_period_seconds.value_or(0) == 0;
  co_return co_await keep(std::move(object), remove_next);
}

// Converts the object to canonical form, unless it is stored in an older version (a custom resource that was not written since the storage
// version changed): such an object stays in that version, because the newer version may not have its fields.
Status DeleteOperation::shape(Object& object) const {
  const GroupVersionKind& own = store_.config().kind;
  const std::string api_version = own.group.empty() ? own.version : own.group + "/" + own.version;
  return get_string(object, "apiVersion") == api_version ? canonical_form(store_.config().schema, object) : Status();
}

// Stores the marked object. If `remove_next` is set (it has no finalizers and no grace period), removes it afterwards. As upstream,
// admission runs again before the removal, with the marked object. A dry run ends before the object is stored.
Task<DeleteOperation::Attempt> DeleteOperation::keep(Object object, bool remove_next) {
  if (options_.dry_run) co_return done(unstored(key_, object), remove_next, true);
  Status shaped = shape(object);
  if (!shaped.ok()) co_return shaped;
  KeyValue stored;
  stored.key = key_;
  stored.value = encode_for_storage(object);
  auto leased = co_await store_.lease(backing_);
  if (!leased.ok()) co_return std::move(leased.status());
  ObjectChange change;
  change.key = key_;
  change.expected = revision();
  change.value = stored.value;
  change.lease = *leased;
  const Joining nothing;
  auto committed = co_await commit(backing_, context_, std::move(change), nothing, &unclear_);
  if (!committed.ok()) co_return std::move(committed.status());
  if (committed->end != CommitEnd::kDone) {
    Status adopted = adopt(*committed);
    if (!adopted.ok()) co_return adopted;
    co_return again();
  }
  stored.mod_revision = committed->revision;
  entry_ = backing_.cache->make_written(stored);
  current_ = true;
  if (!remove_next) co_return done(entry_, false, true);
  marked_ = entry_;
  const Object marked = decode_kept(*entry_, store_.config().schema, json::make_shared_resource<json::monotonic_resource>());
  Status admitted = co_await admission(marked);
  if (!admitted.ok()) co_return admitted;
  if (options_.preconditions.resource_version) options_.preconditions.resource_version = std::to_string(entry_->revision);
  co_return co_await remove_now();
}

Task<DeleteOperation::Attempt> DeleteOperation::remove_now() {
  if (options_.dry_run) co_return done(entry_, true, returns_object());
  std::optional<AdmissionAttributes> removal;
  if (context_.info.is_resource_request) removal = attributes();
  auto committed = co_await commit_removal(mode_, removal);
  if (!committed.ok()) co_return std::move(committed.status());
  if (committed->end != CommitEnd::kDone) {
    Status adopted = adopt(*committed);
    if (!adopted.ok()) co_return adopted;
    co_return again();
  }
  if (const StoreHooks* hooks = store_.config().hooks.get()) hooks->after_delete(context_, entry_);
  if (!returns_object()) co_return done(entry_, true, false);
  // The result is the last state of the object, with the revision of its removal.
  auto last = std::make_shared<ObjectEntry>(*entry_);
  last->revision = committed->revision;
  last->set_json(SharedBytes(splice_resource_version(entry_->json().view(), committed->revision, store_.sorted_keys())),
                 entry_->item_offset());
  if (const SharedBytes kept = kept_json(*entry_); kept.view() != entry_->json().view()) {
    set_kept_json(*last, SharedBytes(splice_resource_version(kept.view(), committed->revision, store_.sorted_keys())));
  }
  co_return done(std::move(last), true, true);
}

constexpr std::string_view kIgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential";

Status not_corrupt(const ServedNames& served_names, std::string_view name) {
  FieldErrors errors;
  errors.invalid_raw(std::string(kIgnoreReadError), "true",
                     "is exclusively used to delete corrupt object(s), try again by removing this option");
  return errors.to_status(served_names.kind.group, served_names.resource, name);
}

}  // namespace

Task<Result<DeleteResult>> ObjectStore::remove_unread(WriteMode mode, const Backing& backing, RequestContext& context, std::string name,
                                                      std::string key) {
  Result<RangeResult> found;
  Result<TxnResult> removed;
  bool was_unreadable = false;
  while (!expired(context)) {
    RangeRequest request;
    request.start = key;
    auto reading = backing.storage->range(std::move(request));
    found = co_await std::move(reading);
    if (!found.ok()) co_return std::move(found.status());
    if (found->items.empty() && was_unreadable) co_return DeleteResult();  // another client has removed it: success without an object
    // If another client has written the object meanwhile, it is readable, and is not removed.
    if (found->items.empty() || !found->items.front().unreadable) co_return not_corrupt(*mode.served_names, name);
    was_unreadable = true;
    TxnRequest removal;
    removal.compares.push_back({key, found->items.front().mod_revision});
    removal.removes.push_back(key);
    auto removing = backing.storage->txn(std::move(removal));
    removed = co_await std::move(removing);
    if (!removed.ok()) co_return std::move(removed.status());
    if (!removed->committed) continue;
    DeleteResult result;
    result.deleted = true;
    co_return result;
  }
  co_return deadline_error();
}

Task<Result<DeleteResult>> ObjectStore::remove_as(WriteMode mode, RequestContext& context, std::string ns, std::string name,
                                                  DeleteOptions options) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  auto key = keys_.key(ns, name);
  if (!key.ok()) co_return std::move(key.status());
  if (options.ignore_read_error) co_return co_await remove_unread(mode, *backing, context, std::move(name), std::move(*key));
  DeleteOperation operation(*this, *backing, mode, context, std::move(ns), std::move(name), std::move(*key), std::move(options));
  co_return co_await operation.run();
}

Task<Result<DeleteResult>> ObjectStore::remove(RequestContext& context, std::string name, DeleteOptions options) {
  std::string ns = keys_.namespaced() ? context.info.ns : std::string();
  co_return co_await remove_as(default_mode(), context, std::move(ns), std::move(name), std::move(options));
}

}  // namespace backplane::registry
