// update: compute from the newest state at hand, commit only if that state still stands, else compute again (storage.GuaranteedUpdate).
#include "registry/guaranteed.hpp"
#include "registry/metadata.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kModified = "the object has been modified; please apply your changes to the latest version and try again";

// One update from its first try to its last.
class UpdateOperation final : public Guaranteed<UpdateOperation, UpdateResult> {
 public:
  UpdateOperation(ObjectStore& store, const Backing& backing, WriteMode mode, RequestContext& context, std::string name, std::string key,
                  UpdatedObjectInfo& info, WriteOptions options, bool may_create)
      : Guaranteed(store, backing, context, std::move(name), std::move(key)),
        mode_(mode),
        info_(info),
        options_(std::move(options)),
        dry_run_(options_.dry_run),
        may_create_(may_create || mode.strategy->allow_create_on_update()) {}

  Task<Attempt> attempt();

 private:
  static Attempt done(ObjectRef object, bool created = false) {
    UpdateResult result;
    result.object = std::move(object);
    result.created = created;
    return std::optional<UpdateResult>(std::move(result));
  }

  Task<Attempt> change(Object existing);
  Task<Attempt> create_missing(Object object);
  Task<Attempt> commit(Object object);
  Task<Attempt> remove_finalized(Object object);
  Task<Status> admit(Object& object, const Object* existing);
  Task<Status> validate_admission(Object& object, const Object* existing);
  AdmissionAttributes attributes(Object& object, const Object* existing);
  Status check_preconditions(const Object& existing) const;
  Status check_version(Object& object) const;
  bool changes_nothing(std::string_view bytes) const;
  bool admission_applies() const { return mode_.run_admission && context_.info.is_resource_request; }

  WriteMode mode_;
  UpdatedObjectInfo& info_;
  WriteOptions options_;
  bool dry_run_;
  bool may_create_;
};

bool UpdateOperation::changes_nothing(std::string_view bytes) const {
  const std::size_t version_member = std::string_view("\"resourceVersion\":\"\",").size() + std::to_string(revision()).size();
  if (bytes.size() + version_member != entry_->json().size()) return false;
  return splice_resource_version(bytes, revision(), store_.sorted_keys()) == entry_->json().view();
}

AdmissionAttributes UpdateOperation::attributes(Object& object, const Object* existing) {
  const AdmissionOperation operation = existing ? AdmissionOperation::kUpdate : AdmissionOperation::kCreate;
  AdmissionAttributes attributes = store_.attributes(context_, operation, name_);
  attributes.object = &object;
  attributes.old_object = existing;
  attributes.options = options_;
  attributes.dry_run = dry_run_;
  return attributes;
}

Task<Status> UpdateOperation::admit(Object& object, const Object* existing) {
  if (!admission_applies()) co_return Status();
  // A patch is looked at once, when it has been applied; upstream words its warning accordingly.
  if (context_.info.verb != "patch") dedupe_owner_references(context_, object, false);
  AdmissionAttributes attributes = this->attributes(object, existing);
  Status admitted = co_await backing_.admission->admit(attributes);
  if (admitted.ok()) dedupe_owner_references(context_, object, true);
  co_return admitted;
}

Task<Status> UpdateOperation::validate_admission(Object& object, const Object* existing) {
  if (!admission_applies()) co_return Status();
  const AdmissionAttributes attributes = this->attributes(object, existing);
  co_return co_await backing_.admission->validate(attributes);
}

Status UpdateOperation::check_preconditions(const Object& existing) const {
  const Preconditions wanted = info_.preconditions();
  const std::string prefix = "StorageError: invalid object, Code: 4, Key: " + std::string(StoreKeys::shown(key_, dry_run_)) +
                             ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ";
  if (wanted.uid && *wanted.uid != meta_text(existing, "uid")) {
    return store_.conflict_error(
        name_, prefix + "UID in precondition: " + *wanted.uid + ", UID in object meta: " + std::string(meta_text(existing, "uid")));
  }
  if (wanted.resource_version && *wanted.resource_version != meta_text(existing, "resourceVersion")) {
    return store_.conflict_error(name_, prefix + "ResourceVersion in precondition: " + *wanted.resource_version +
                                            ", ResourceVersion in object meta: " + std::string(meta_text(existing, "resourceVersion")));
  }
  return {};
}

// The object's resourceVersion must be that of the state, or be left out where the kind allows it; afterwards it is set.
Status UpdateOperation::check_version(Object& object) const {
  auto version = parse_resource_version(meta_text(object, "resourceVersion"));
  if (!version.ok()) return std::move(version.status());
  if (*version == 0 && mode_.strategy->allow_unconditional_update()) {
    ObjectMeta(object).set("resourceVersion", std::to_string(revision()));
    return {};
  }
  if (*version == 0) {
    FieldErrors errors;
    errors.invalid("metadata.resourceVersion", 0LL, "must be specified for an update");
    return errors.to_status(store_.config().kind.group, store_.config().resource, name_);
  }
  if (*version != static_cast<std::uint64_t>(revision())) return store_.conflict_error(name_, kModified);
  return {};
}

Task<UpdateOperation::Attempt> UpdateOperation::attempt() {
  if (entry_ == nullptr) {
    if (!may_create_) co_return store_.not_found_error(name_);
    auto wanted = co_await info_.updated_object(context_, nullptr);
    if (!wanted.ok()) co_return std::move(wanted.status());
    mode_.strategy->apply_defaults(*wanted);
    co_return co_await create_missing(std::move(*wanted));
  }
  Object existing = decode(*entry_, context_.arena());
  Status met = check_preconditions(existing);
  if (!met.ok()) co_return met;
  co_return co_await change(std::move(existing));
}

Task<UpdateOperation::Attempt> UpdateOperation::change(Object existing) {
  auto wanted = co_await info_.updated_object(context_, &existing);
  if (!wanted.ok()) co_return std::move(wanted.status());
  Object object = std::move(*wanted);
  mode_.strategy->apply_defaults(object);
  Status admitted = co_await admit(object, &existing);
  if (!admitted.ok()) co_return admitted;
  Status version = check_version(object);
  if (!version.ok()) co_return version;
  Status prepared = before_update(store_.config(), mode_, context_, object, existing);
  if (!prepared.ok()) co_return prepared;
  Status allowed = co_await validate_admission(object, &existing);
  if (!allowed.ok()) co_return allowed;
  if (deletes_during_update(*mode_.strategy, object, existing)) co_return co_await remove_finalized(std::move(object));
  if (dry_run_) co_return done(unstored(key_, object));
  co_return co_await commit(std::move(object));
}

Task<UpdateOperation::Attempt> UpdateOperation::commit(Object object) {
  KeyValue stored;
  stored.key = key_;
  stored.value = SharedBytes(encode_for_storage(object));
  // A write that changes nothing is none: the object keeps its resourceVersion.
  if (changes_nothing(stored.value.view())) {
    if (current_) co_return done(entry_);
    const Revision judged = revision();
    Status read = co_await refresh();
    if (!read.ok()) co_return read;
    co_return revision() == judged ? done(entry_) : again();
  }

  TxnRequest request;
  request.compares.push_back({key_, revision()});
  request.puts.push_back({key_, stored.value, 0});
  auto committed = co_await backing_.storage->txn(std::move(request));
  if (!committed.ok()) co_return std::move(committed.status());
  if (!committed->committed) {
    adopt(*committed);
    co_return again();
  }
  stored.mod_revision = committed->revision;
  co_return done(backing_.cache->make_entry(stored));
}

// The last finalizer of an object that is being deleted has gone, and so does the object.
Task<UpdateOperation::Attempt> UpdateOperation::remove_finalized(Object object) {
  ObjectRef last = unstored(key_, object);
  if (dry_run_) co_return done(std::move(last));
  TxnRequest request;
  request.compares.push_back({key_, revision()});
  request.removes.push_back(key_);
  auto committed = co_await backing_.storage->txn(std::move(request));
  if (!committed.ok()) co_return std::move(committed.status());
  // Nothing found: removed by somebody else meanwhile, which is the same end.
  if (committed->committed || committed->found.empty()) co_return done(std::move(last));
  adopt(*committed);
  co_return again();
}

Task<UpdateOperation::Attempt> UpdateOperation::create_missing(Object object) {
  Status admitted = co_await admit(object, nullptr);
  if (!admitted.ok()) co_return admitted;
  auto version = parse_resource_version(meta_text(object, "resourceVersion"));
  if (!version.ok()) co_return std::move(version.status());
  wipe_system_fields(object);
  fill_system_fields(object);
  Status prepared = before_create(store_.config(), *mode_.strategy, context_, object);
  if (!prepared.ok()) co_return prepared;
  Status allowed = co_await validate_admission(object, nullptr);
  if (!allowed.ok()) co_return allowed;
  if (dry_run_) co_return done(unstored(key_, object), true);

  KeyValue stored;
  stored.key = key_;
  stored.value = SharedBytes(encode_for_storage(object));
  TxnRequest request;
  request.compares.push_back({key_, 0});
  request.puts.push_back({key_, stored.value, 0});
  auto committed = co_await backing_.storage->txn(std::move(request));
  if (!committed.ok()) co_return std::move(committed.status());
  if (!committed->committed) {
    adopt(*committed);
    co_return again();
  }
  stored.create_revision = committed->revision;
  stored.mod_revision = committed->revision;
  co_return done(backing_.cache->make_entry(stored), true);
}

}  // namespace

Task<Result<UpdateResult>> ObjectStore::update_as(WriteMode mode, RequestContext& context, std::string name, UpdatedObjectInfo& info,
                                                  WriteOptions options, bool force_allow_create) {
  const Backing* backing = slot_.get();
  if (backing == nullptr) co_return not_started();
  auto key = keys_.key(context.info.ns, name);
  if (!key.ok()) co_return std::move(key.status());
  UpdateOperation operation(*this, *backing, mode, context, std::move(name), std::move(*key), info, std::move(options), force_allow_create);
  co_return co_await operation.run();
}

Task<Result<UpdateResult>> ObjectStore::update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                               bool force_allow_create) {
  WriteMode mode;
  mode.strategy = config_.strategy.get();
  co_return co_await update_as(mode, context, std::move(name), info, std::move(options), force_allow_create);
}

}  // namespace backplane::registry
