#include "registry/converting_writes.hpp"

#include "backplane/core/json_access.hpp"
#include "registry/fields/guarded_admission.hpp"
#include "registry/metadata.hpp"

namespace backplane::registry {

ConvertingWrite::ConvertingWrite(ServedStore& store, const Conversion& conversion, const Strategy* view_strategy, WriteMode mode,
                                 RequestContext& context, WriteOptions options)
    : store_(store),
      conversion_(conversion),
      view_strategy_(view_strategy),
      asked_(mode),
      context_(context),
      options_(std::move(options)),
      admission_(*this),
      below_(mode) {
  below_.admission = &admission_;
  below_.found_before = &found_;
  below_.fields = nullptr;
}

WriteAdmission* ConvertingWrite::server_admission() const {
  const Backing* backing = store_.stored().backing();
  return backing != nullptr ? &admission_of(asked_, *backing) : nullptr;
}

// ---- the steps in the served version

Task<Status> ConvertingWrite::admit(Object& object, const Object* old) {
  WriteAdmission* runner = server_admission();
  if (!admission_applies() || runner == nullptr) co_return Status();
  const AdmissionOperation operation = old != nullptr ? AdmissionOperation::kUpdate : AdmissionOperation::kCreate;
  const std::string name(old != nullptr ? meta_name(*old) : meta_name(object));
  AdmissionAttributes attributes = store_.stored().attributes(asked_, context_, operation, name);
  attributes.object = &object;
  attributes.old_object = old;
  attributes.options = options_;
  attributes.dry_run = options_.dry_run;
  Status admitted = co_await guarded_admit(*runner, attributes, context_, store_.stored().sorted_keys());
  if (admitted.ok()) dedupe_owner_references(context_, object, true);
  co_return admitted;
}

void ConvertingWrite::check_schema(Object& object, const Object* old) {
  const Schema* schema = store_.schema();
  const KindFacts& facts = asked_.strategy->facts();
  if (schema == nullptr || !schema->structural() || facts.checked == ObjectPart::kNone) return;
  // The store below resets status in this write, so the sent status is not checked.
  const bool resets_status = facts.status && !asked_.subresource && (old != nullptr || !facts.status_on_create);
  if (resets_status) take_member(object, old != nullptr ? *old : Object(), "status");
  schema->check(object, old, facts.checked, "", found_);
}

void ConvertingWrite::check_new(Object& object) {
  check_schema(object, nullptr);
  if (view_strategy_ == nullptr) return;
  view_strategy_->prepare_for_create(context_, object);
  const std::string_view prefix = meta_text(object, "generateName");
  if (meta_name(object).empty() && !prefix.empty()) {
    // The store below generates the name later, and another one if the name is taken. Validation needs any valid name.
    Object named(object, object.storage());
    ObjectMeta(named).set("name", generate_name(prefix));
    view_strategy_->validate(context_, named, found_);
  } else {
    view_strategy_->validate(context_, object, found_);
  }
  if (!found_.empty()) return;
  for (const std::string& text : view_strategy_->warnings(object, nullptr)) context_.warn(text);
}

void ConvertingWrite::check_change(Object& object, const Object& old) {
  check_schema(object, &old);
  if (view_strategy_ == nullptr) return;
  view_strategy_->prepare_for_update(context_, object, old);
  view_strategy_->validate_update(context_, object, old, found_);
  if (!found_.empty()) return;
  for (const std::string& text : view_strategy_->warnings(object, &old)) context_.warn(text);
}

Task<Result<Object>> ConvertingWrite::to_create(Object& object) {
  wipe_system_fields(object);
  Status scoped = ensure_namespace(object, store_.namespaced() ? std::string_view(context_.info.ns) : std::string_view());
  if (!scoped.ok()) co_return scoped;
  if (view_strategy_ != nullptr) view_strategy_->apply_defaults(object);
  if (admission_applies()) dedupe_owner_references(context_, object, false);
  if (asked_.fields != nullptr) co_await asked_.fields->track_new(context_, options_, object);
  Status admitted = co_await admit(object, nullptr);
  if (!admitted.ok()) co_return admitted;
  check_new(object);
  Object served(object, object.storage());
  co_return co_await conversion_.to_stored(std::move(served));
}

Task<Result<Object>> ConvertingWrite::ask(UpdatedObjectInfo& info, const Object* old) {
  if (asked_.fields != nullptr) co_return co_await asked_.fields->wanted(info, view_strategy_, context_, options_, old);
  auto wanted = co_await info.updated_object(context_, old);
  if (wanted.ok() && view_strategy_ != nullptr) view_strategy_->apply_defaults(*wanted);
  co_return wanted;
}

Task<Result<Object>> ConvertingWrite::to_update(UpdatedObjectInfo& info, const Object* existing) {
  found_ = FieldErrors();
  std::optional<Object> before;
  if (existing != nullptr) {
    auto shown = co_await conversion_.to_served(*existing, context_.arena());
    if (!shown.ok()) co_return std::move(shown.status());
    before.emplace(std::move(*shown));
  }
  const Object* old = before ? &*before : nullptr;
  auto wanted = co_await ask(info, old);
  if (!wanted.ok()) co_return wanted;
  Status admitted = co_await admit(*wanted, old);
  if (!admitted.ok()) co_return admitted;
  if (old != nullptr)
    check_change(*wanted, *old);
  else
    check_new(*wanted);
  co_return co_await conversion_.to_stored(std::move(*wanted));
}

// ---- admission of the store below

Task<Status> ConvertingWrite::show(const AdmissionAttributes& attributes, Shown& shown) const {
  shown.attributes = attributes;
  if (attributes.object != nullptr && !conversion_.shows(*attributes.object)) {
    auto object = co_await conversion_.to_served(*attributes.object, context_.arena());
    if (!object.ok()) co_return std::move(object.status());
    shown.attributes.object = &shown.object.emplace(std::move(*object));
  }
  if (attributes.old_object != nullptr && !conversion_.shows(*attributes.old_object)) {
    // One deletecollection request may delete thousands of objects, so each has a separate arena.
    auto old = co_await conversion_.to_served(*attributes.old_object, json::make_shared_resource<json::monotonic_resource>());
    if (!old.ok()) co_return std::move(old.status());
    shown.attributes.old_object = &shown.old_object.emplace(std::move(*old));
  }
  co_return Status();
}

Task<Status> ConvertingWrite::Admission::admit(AdmissionAttributes& attributes) {
  if (attributes.operation != AdmissionOperation::kDelete) co_return Status();
  Shown shown;
  Status status = co_await write_.show(attributes, shown);
  if (!status.ok()) co_return status;
  co_return co_await write_.server_admission()->admit(shown.attributes);
}

bool ConvertingWrite::Admission::reads_managed_fields(const AdmissionAttributes& attributes) const noexcept {
  return write_.server_admission()->reads_managed_fields(attributes);
}

bool ConvertingWrite::Admission::begins(const AdmissionAttributes& attributes) const noexcept {
  return write_.server_admission()->begins(attributes);
}

Task<Result<WriteAdmission::Begun>> ConvertingWrite::Admission::begin(const AdmissionAttributes& attributes) {
  Shown shown;
  Status status = co_await write_.show(attributes, shown);
  if (!status.ok()) co_return status;
  co_return co_await write_.server_admission()->begin(shown.attributes);
}

Task<Status> ConvertingWrite::Admission::validate(const AdmissionAttributes& attributes) {
  Shown shown;
  Status status = co_await write_.show(attributes, shown);
  if (!status.ok()) co_return status;
  co_return co_await write_.server_admission()->validate(shown.attributes);
}

}  // namespace backplane::registry
