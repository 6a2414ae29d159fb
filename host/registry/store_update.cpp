// update: computes the new object from the newest known state, and commits it if the stored state is unchanged; otherwise computes it again
// (guaranteed_update.hpp).
#include "engine/raw_json.hpp"
#include "registry/fields/applied_object.hpp"
#include "registry/fields/guarded_admission.hpp"
#include "registry/fields/managers.hpp"
#include "registry/fields/raw_managers.hpp"
#include "registry/guaranteed_update.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"
#include "registry/store_span.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kModified = "the object has been modified; please apply your changes to the latest version and try again";

// One update with all its attempts.
class UpdateOperation final : public GuaranteedUpdate<UpdateOperation, UpdateResult> {
 public:
  UpdateOperation(ObjectStore& store, const Backing& backing, WriteMode mode, RequestContext& context, std::string name, std::string key,
                  UpdatedObjectInfo& info, WriteOptions options, bool may_create)
      : GuaranteedUpdate(store, backing, context, std::move(name), std::move(key), options.dry_run),
        mode_(mode),
        info_(info),
        options_(std::move(options)),
        may_create_(may_create || mode.strategy->facts().create_on_update) {
    mode_.sent = info.client_write();
  }

  Task<Attempt> attempt();

 private:
  // The outcome of an attempt without an error. kLost: the stored object has changed, so a new attempt is needed. kEmptied: the update has
  // removed the last finalizer of an object that is being deleted.
  enum class End : unsigned char { kStored, kUnchanged, kDryRun, kLost, kEmptied };

  static Attempt done(ObjectRef object, bool created = false, bool deleted = false) {
    UpdateResult result;
    result.object = std::move(object);
    result.created = created;
    result.deleted = deleted;
    return std::optional<UpdateResult>(std::move(result));
  }

  Task<Result<Object>> requested(const Object* existing);
  // The requested object with defaults and managedFields.
  Task<Result<Object>> ask(const Object* existing);
  Task<Attempt> change(Object existing);
  Task<Attempt> create_missing(Object object);
  // The three functions below run between begin and finish of the hooks.
  Task<Result<End>> write_change(Object& object, const Object& existing, BegunWrite* begun);
  Task<Result<End>> write_new(Object& object, BegunWrite* begun);
  Task<Result<End>> store(Object& object, Revision expected, BegunWrite* begun);
  // The outcome of an update that changes nothing; nullopt: the stored bytes differ from those that the update would write, so it is
  // written.
  Task<Result<std::optional<End>>> store_unchanged(SharedBytes worked);
  using GuaranteedUpdate::adopt;
  // Sets entry_ to the object that was read from the store.  Errors: the object cannot be read.
  Status adopt(const RangeResult& found);
  Task<Attempt> remove_finalized(Object object);
  Task<Status> admit(Object& object, const Object* existing);
  Task<Status> validate_admission(Object& object);
  AdmissionAttributes& make_attributes(Object& object, const Object* existing);
  Status check_preconditions(const Object& existing) const;
  Status check_version(Object& object) const;
  bool changes_nothing(std::string_view bytes) const;
  bool is_apply() const noexcept;
  // True if the next attempt must drop managedFields: see too_large().
  bool drops_managers(const Status& refused);
  const StoreHooks* hooks() const noexcept { return mode_.subresource ? nullptr : store_.config().hooks.get(); }
  bool admission_applies() const { return mode_.run_admission && context_.info.is_resource_request; }

  WriteMode mode_;
  UpdatedObjectInfo& info_;
  WriteOptions options_;
  bool may_create_;
  bool without_managers_ = false;
  std::optional<AdmissionAttributes> attributes_;  // the attributes of the current attempt
  ObjectRef result_;                               // the result of the current attempt, unless it was lost
};

bool UpdateOperation::changes_nothing(std::string_view bytes) const {
  const std::size_t version_member = std::string_view("\"resourceVersion\":\"\",").size() + std::to_string(revision()).size();
  if (bytes.starts_with(' ')) bytes.remove_prefix(1);  // encode_for_storage() marks objects with raw values by a leading blank
  const SharedBytes present = kept_json(*entry_);
  if (bytes.size() + version_member != present.size()) return false;
  return splice_resource_version(bytes, revision(), store_.sorted_keys()) == present.view();
}

bool UpdateOperation::is_apply() const noexcept { return mode_.sent != nullptr && mode_.sent->applied() != nullptr; }

bool UpdateOperation::drops_managers(const Status& refused) {
  if (without_managers_ || !too_large(refused) || is_apply()) return false;
  return without_managers_ = true;
}

// Made for mutating admission in each attempt; validating admission uses the same attributes.
AdmissionAttributes& UpdateOperation::make_attributes(Object& object, const Object* existing) {
  const AdmissionOperation operation = existing ? AdmissionOperation::kUpdate : AdmissionOperation::kCreate;
  AdmissionAttributes& attributes = attributes_.emplace(store_.attributes(mode_, context_, operation, name_));
  attributes.object = &object;
  attributes.old_object = existing;
  attributes.options = options_;
  attributes.dry_run = dry_run_;
  return attributes;
}

Task<Status> UpdateOperation::admit(Object& object, const Object* existing) {
  if (!admission_applies()) co_return Status();
  AdmissionAttributes& attributes = make_attributes(object, existing);
  Status admitted = co_await guarded_admit(admission_of(mode_, backing_), attributes, context_, store_.sorted_keys());
  if (admitted.ok()) dedupe_owner_references(context_, object, true);
  co_return admitted;
}

Task<Status> UpdateOperation::validate_admission(Object& object) {
  if (!admission_applies()) co_return Status();
  attributes_->object = &object;
  co_return co_await guarded_validate(admission_of(mode_, backing_), *attributes_);
}

Status UpdateOperation::check_preconditions(const Object& existing) const {
  const Preconditions wanted = info_.preconditions();
  const std::string prefix = "StorageError: invalid object, Code: 4, Key: " + std::string(StoreKeys::shown(key_, dry_run_)) +
                             ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ";
  if (wanted.uid && *wanted.uid != meta_text(existing, "uid")) {
    return conflict_error(
        *mode_.served_names, name_,
        prefix + "UID in precondition: " + *wanted.uid + ", UID in object meta: " + std::string(meta_text(existing, "uid")));
  }
  if (wanted.resource_version && *wanted.resource_version != meta_text(existing, "resourceVersion")) {
    return conflict_error(*mode_.served_names, name_,
                          prefix + "ResourceVersion in precondition: " + *wanted.resource_version +
                              ", ResourceVersion in object meta: " + std::string(meta_text(existing, "resourceVersion")));
  }
  return {};
}

// Checks that the object has the resourceVersion of the current state. If it has none and the kind allows unconditional updates, sets it.
Status UpdateOperation::check_version(Object& object) const {
  auto version = parse_resource_version(meta_text(object, "resourceVersion"));
  if (!version.ok()) return std::move(version.status());
  if (*version == 0 && mode_.strategy->facts().unconditional_update) {
    ObjectMeta(object).set("resourceVersion", std::to_string(revision()));
    return {};
  }
  if (*version == 0) {
    FieldErrors errors;
    errors.invalid("metadata.resourceVersion", 0LL, "must be specified for an update");
    return errors.to_status(mode_.served_names->kind.group, mode_.served_names->resource, name_);
  }
  if (*version != static_cast<std::uint64_t>(revision())) return conflict_error(*mode_.served_names, name_, kModified);
  return {};
}

Task<Result<Object>> UpdateOperation::requested(const Object* existing) {
  if (mode_.fields != nullptr) return mode_.fields->wanted(info_, mode_.strategy, context_, options_, existing);
  return info_.updated_object(context_, existing);
}

Task<Result<Object>> UpdateOperation::ask(const Object* existing) {
  auto asking = requested(existing);
  auto wanted = co_await std::move(asking);
  if (wanted.ok() && mode_.fields == nullptr) mode_.strategy->apply_defaults(*wanted);
  if (wanted.ok() && without_managers_) put_managed_fields(*wanted, nullptr, store_.sorted_keys());
  co_return wanted;
}

Task<UpdateOperation::Attempt> UpdateOperation::attempt() {
  if (entry_ == nullptr) {
    if (!may_create_) co_return not_found_error(*mode_.served_names, name_);
    auto wanted = co_await ask(nullptr);
    if (!wanted.ok()) co_return std::move(wanted.status());
    co_return co_await create_missing(std::move(*wanted));
  }
  Object existing = decode_for_write(*entry_, store_.config().schema, context_.arena());
  // kube-apiserver stores its endpoint leases without metadata.name; the name is then taken from the key.
  if (meta_name(existing).empty()) ObjectMeta(existing).set("name", name_);
  Status met = check_preconditions(existing);
  if (!met.ok()) co_return met;
  co_return co_await change(std::move(existing));
}

Task<UpdateOperation::Attempt> UpdateOperation::change(Object existing) {
  auto wanted = co_await ask(&existing);
  if (!wanted.ok()) co_return std::move(wanted.status());
  Object object = std::move(*wanted);
  Status admitted = co_await admit(object, &existing);
  if (!admitted.ok()) co_return admitted;
  Status version = check_version(object);
  if (!version.ok()) co_return version;
  StoreHooks::Begun begun;
  if (hooks() != nullptr) {
    auto started = co_await hooks()->begin_update(context_, object, existing, dry_run_);
    if (!started.ok()) co_return std::move(started.status());
    begun = std::move(*started);
  }
  auto end = co_await write_change(object, existing, begun.get());
  if (begun != nullptr) co_await begun->finish(end.ok() && (*end == End::kStored || *end == End::kUnchanged));
  if (!end.ok() && drops_managers(end.status())) co_return again();
  if (!end.ok()) co_return std::move(end.status());
  if (*end == End::kLost) co_return again();
  if (*end == End::kEmptied) co_return co_await remove_finalized(std::move(object));
  if (*end == End::kStored && hooks() != nullptr) hooks()->after_update(context_, result_);
  co_return done(result_);
}

Task<Result<UpdateOperation::End>> UpdateOperation::write_change(Object& object, const Object& existing, BegunWrite* begun) {
  Status prepared = before_update(store_.config(), mode_, store_.gated(backing_), context_, object, existing);
  if (!prepared.ok()) co_return prepared;
  keep_times(object, existing, store_.sorted_keys());
  Status allowed = co_await validate_admission(object);
  if (!allowed.ok()) co_return allowed;
  if (deletes_during_update(*mode_.strategy, object, existing)) co_return End::kEmptied;
  if (dry_run_) {
    result_ = unstored(key_, object);
    co_return End::kDryRun;
  }
  co_return co_await store(object, revision(), begun);
}

// `expected` is 0 for an object that is new.
Task<Result<UpdateOperation::End>> UpdateOperation::store(Object& object, Revision expected, BegunWrite* begun) {
  trace_step(context_, "About to Encode");
  KeyValue stored;
  stored.key = key_;
  stored.value = encode_for_storage(object);
  trace_step(context_, "Encode succeeded", "len", static_cast<std::int64_t>(stored.value.size()));
  // An update that changes nothing is not written, so the object keeps its resourceVersion.
  if (expected != 0 && changes_nothing(stored.value.view())) {
    auto unchanged = co_await store_unchanged(stored.value);
    if (!unchanged.ok()) co_return std::move(unchanged.status());
    if (unchanged->has_value()) co_return **unchanged;
  }

  auto leased = co_await store_.lease(backing_);
  if (!leased.ok()) co_return std::move(leased.status());
  ObjectChange change;
  change.key = key_;
  change.expected = expected;
  change.value = stored.value;
  change.lease = *leased;
  Joining joining{begun};
  if (admission_applies()) joining = {begun, &admission_of(mode_, backing_), &*attributes_};
  trace_step(context_, "Transaction prepared");
  auto committed = co_await commit(backing_, context_, std::move(change), joining, &unclear_);
  trace_step(context_, committed.ok() ? "Txn call completed" : "Txn call failed");
  if (!committed.ok()) co_return std::move(committed.status());
  if (committed->end != CommitEnd::kDone) {
    Status adopted = adopt(*committed);
    if (!adopted.ok()) co_return adopted;
    co_return End::kLost;
  }
  stored.create_revision = expected == 0 ? committed->revision : 0;
  stored.mod_revision = committed->revision;
  result_ = backing_.cache->make_written(stored);
  co_return End::kStored;
}

// Compares `worked` with the stored bytes: the cached state may be stale, and the cache does not have the stored bytes.
Task<Result<std::optional<UpdateOperation::End>>> UpdateOperation::store_unchanged(SharedBytes worked) {
  const Revision judged = revision();
  auto comparing = backing_.storage->compare(key_, std::move(worked));
  auto compared = co_await std::move(comparing);
  if (!compared.ok()) co_return std::move(compared.status());
  Status adopted = adopt(compared->result);
  if (!adopted.ok()) co_return adopted;
  if (revision() != judged) co_return std::optional(End::kLost);
  if (!compared->same_bytes) co_return std::optional<End>();
  result_ = entry_;
  co_return std::optional(End::kUnchanged);
}

Status UpdateOperation::adopt(const RangeResult& found) {
  current_ = true;
  const KeyValue* item = found.items.empty() ? nullptr : &found.items.front();
  if (item != nullptr && item->unreadable) return *item->unreadable;
  entry_ = item != nullptr ? backing_.cache->make_entry(*item) : nullptr;
  return {};
}

// Removes an object that is being deleted and has lost its last finalizer.
Task<UpdateOperation::Attempt> UpdateOperation::remove_finalized(Object object) {
  ObjectRef last = unstored(key_, object);
  if (dry_run_) co_return done(std::move(last));
  std::optional<AdmissionAttributes> removal;
  if (admission_applies()) removal = store_.attributes(mode_, context_, AdmissionOperation::kDelete, name_);
  auto committed = co_await commit_removal(mode_, removal);
  if (!committed.ok()) co_return std::move(committed.status());
  if (committed->end == CommitEnd::kDone) {
    if (const StoreHooks* own = store_.config().hooks.get()) own->after_delete(context_, last);
    co_return done(std::move(last), false, true);
  }
  // Another writer has removed the object, which is the requested result.
  if (committed->end == CommitEnd::kMoved && !committed->found) co_return done(std::move(last), false, true);
  Status adopted = adopt(*committed);
  if (!adopted.ok()) co_return adopted;
  co_return again();
}

Task<UpdateOperation::Attempt> UpdateOperation::create_missing(Object object) {
  Status admitted = co_await admit(object, nullptr);
  if (!admitted.ok()) co_return admitted;
  auto version = parse_resource_version(meta_text(object, "resourceVersion"));
  if (!version.ok()) co_return std::move(version.status());
  Status scoped = ensure_namespace(object, store_.namespaced() ? std::string_view(context_.info.ns) : std::string_view());
  if (!scoped.ok()) co_return scoped;
  wipe_system_fields(object);
  fill_system_fields(object);
  StoreHooks::Begun begun;
  if (hooks() != nullptr) {
    auto started = co_await hooks()->begin_create(context_, object, dry_run_);
    if (!started.ok()) co_return std::move(started.status());
    begun = std::move(*started);
  }
  auto end = co_await write_new(object, begun.get());
  if (begun != nullptr) co_await begun->finish(end.ok() && *end == End::kStored);
  if (!end.ok() && drops_managers(end.status())) co_return again();
  if (!end.ok()) co_return std::move(end.status());
  if (*end == End::kLost) co_return again();
  if (*end == End::kStored && hooks() != nullptr) hooks()->after_create(context_, result_);
  co_return done(result_, true);
}

Task<Result<UpdateOperation::End>> UpdateOperation::write_new(Object& object, BegunWrite* begun) {
  Status prepared = before_create(store_.config(), mode_, store_.gated(backing_), context_, object);
  if (!prepared.ok()) co_return prepared;
  Status allowed = co_await info_.may_create(context_);
  if (allowed.ok()) allowed = co_await validate_admission(object);
  if (!allowed.ok()) co_return allowed;
  if (dry_run_) {
    result_ = unstored(key_, object);
    co_return End::kDryRun;
  }
  co_return co_await store(object, 0, begun);
}

}  // namespace

Task<Result<UpdateResult>> ObjectStore::update_as(WriteMode mode, RequestContext& context, std::string name, UpdatedObjectInfo& info,
                                                  WriteOptions options, bool force_allow_create) {
  if (mode.served_names == nullptr) mode.served_names = &served_names_;
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  auto key = keys_.key(context.info.ns, name);
  if (!key.ok()) co_return std::move(key.status());
  TraceSpan span(&context, "GuaranteedUpdate etcd3");
  describe_write(span, context, config_, *key);
  UpdateOperation operation(*this, *backing, mode, context, std::move(name), std::move(*key), info, std::move(options), force_allow_create);
  co_return co_await operation.run();
}

Task<Result<UpdateResult>> ObjectStore::update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                               bool force_allow_create) {
  return offloaded(blocking_calls_, update_as(default_mode(), context, std::move(name), info, std::move(options), force_allow_create));
}

Task<Result<UpdateResult>> ObjectStore::update_through(WriteMode mode, const Strategy*, RequestContext& context, std::string name,
                                                       UpdatedObjectInfo& info, WriteOptions options, bool force_allow_create) {
  return offloaded(blocking_calls_, update_as(mode, context, std::move(name), info, std::move(options), force_allow_create));
}

}  // namespace backplane::registry
