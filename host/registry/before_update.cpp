#include <algorithm>

#include "backplane/types/deep_equal.hpp"
#include "backplane/types/names.hpp"
#include "registry/fields/managers.hpp"
#include "registry/metadata.hpp"
#include "registry/sent_values.hpp"
#include "registry/write_preparation.hpp"

namespace backplane::registry {
namespace {

void copy_or_erase(Object& object, const Object& old, std::string_view key) {
  const Value* value = find(old, key);
  if (value == nullptr)
    object.stable_erase(key);
  else
    object.insert_or_assign(key, *value);
}

// Restores the metadata that no update may change.
void keep_system_metadata(Object& object, const Object& old) {
  const Object* old_meta = get_object(old, "metadata");
  if (old_meta == nullptr) return;
  Object& metadata = ObjectMeta(object).mutable_metadata();
  if (get_string(metadata, "uid").empty()) copy_or_erase(metadata, *old_meta, "uid");
  if (find(*old_meta, "creationTimestamp") != nullptr) copy_or_erase(metadata, *old_meta, "creationTimestamp");
  if (find(*old_meta, "deletionTimestamp") != nullptr) copy_or_erase(metadata, *old_meta, "deletionTimestamp");
  if (find(metadata, "deletionGracePeriodSeconds") == nullptr) copy_or_erase(metadata, *old_meta, "deletionGracePeriodSeconds");
}

void add_times(const FieldErrors& found, int times, FieldErrors& errors) {
  for (int round = 0; round < times; ++round) errors.add(found);
}

// Upstream runs some checks twice, once for all kinds and once in the rules of the kind, and reports the errors of both as causes.
FieldErrors validation_errors(const ResourceConfig& config, const WriteMode& mode, RequestContext& context, const Object& object,
                              const Object& old) {
  const Strategy& strategy = *mode.strategy;
  const KindFacts& facts = strategy.facts();
  FieldErrors errors;
  validate_object_meta(object, strategy.facts().namespaced, NameRule::kPathSegment, errors);
  FieldErrors changes;
  validate_object_meta_update(object, old, changes);
  add_times(changes, facts.rechecks_metadata_change ? 2 : 1, errors);
  if (facts.rechecks_metadata) validate_object_meta(object, strategy.facts().namespaced, strategy.facts().name_rule, errors);
  if (config.schema != nullptr) config.schema->check(object, &old, facts.checked, "", errors);
  // These kinds check the whole object again, as for a create.
  if (config.schema != nullptr && facts.rechecks_rules) config.schema->check(object, nullptr, facts.checked, "", errors);
  add_found_before(mode, errors);
  strategy.validate_update(context, object, old, errors);
  return errors;
}

bool same_places(const FieldErrors& a, const FieldErrors& b) {
  return std::equal(a.list().begin(), a.list().end(), b.list().begin(), b.list().end(),
                    [](const FieldError& one, const FieldError& other) { return one.type == other.type && one.field == other.field; });
}

// Returns `errors` with empty values ([] and {}) quoted as the client sent them. For this, restores the empty values in a copy of the
// object and validates the copy.
FieldErrors requoted(FieldErrors errors, const ResourceConfig& config, const WriteMode& mode, RequestContext& context, const Object& object,
                     const Object& old) {
  const SentValues* const values = mode.sent != nullptr ? mode.sent->sent_values() : nullptr;
  if (values == nullptr) return errors;
  const Result<Value> sent = values->sent(context, old);
  Object shown(object);
  if (!sent.ok() || !sent->is_object() || !restore_empty_values(sent->get_object(), shown, config.schema)) return errors;
  const std::size_t warnings = context.warning_count();
  FieldErrors again = validation_errors(config, mode, context, shown, old);
  context.take_back_warnings(warnings);
  return same_places(errors, again) ? again : errors;
}

}  // namespace

Status before_update(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context, Object& object,
                     const Object& old) {
  const Strategy& strategy = *mode.strategy;
  Status scoped = ensure_namespace(object, strategy.facts().namespaced ? std::string_view(context.info.ns) : std::string_view());
  if (!scoped.ok()) return scoped;

  const ObjectMeta old_meta(const_cast<Object&>(old));  // only read
  ObjectMeta meta(object);
  // managedFields is final and canonical already. It is removed during the steps below, which change only the rest of metadata.
  Value managers = take_managed_fields(object);
  meta.set_generation(old_meta.generation());
  if (strategy.facts().status && !mode.subresource) copy_or_erase(object, old, "status");
  if (gated != nullptr) gated->apply(object, &old);
  strategy.prepare_for_update(context, object, old);
  keep_system_metadata(object, old);
  Status shaped = canonical_form(config.schema, object);
  if (!shaped.ok()) return shaped;
  if (strategy.facts().generation && !alike(find(object, "spec"), find(old, "spec"))) {
    meta.set_generation(old_meta.generation() + 1);
    // An object that was stored without a generation gets one; canonical_form() moves the member to its position.
    if (old_meta.generation() == 0) shaped = canonical_form(config.schema, object);
    if (!shaped.ok()) return shaped;
  }
  put_managed_fields(object, std::move(managers), config.schema != nullptr && config.schema->structural());

  FieldErrors errors = validation_errors(config, mode, context, object, old);
  if (!errors.empty()) {
    errors = requoted(std::move(errors), config, mode, context, object, old);
    return errors.to_status(config.kind.group, config.kind.kind, meta_name(object));
  }

  for (const std::string& text : strategy.warnings(object, &old)) context.warn(text);
  strategy.canonicalize(object);
  return {};
}

bool deletes_during_update(const Strategy& strategy, const Object& object, const Object& old) {
  const ObjectMeta meta(const_cast<Object&>(object));  // only read
  const ObjectMeta old_meta(const_cast<Object&>(old));
  if (!meta.finalizers().empty() || strategy.held_by_other_finalizers(object)) return false;
  if (old_meta.deletion_timestamp().empty()) return false;
  return old_meta.deletion_grace_period_seconds().value_or(0) == 0;
}

}  // namespace backplane::registry
