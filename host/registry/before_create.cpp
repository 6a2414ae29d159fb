#include "backplane/types/names.hpp"
#include "registry/fields/managers.hpp"
#include "registry/metadata.hpp"
#include "registry/write_preparation.hpp"

namespace backplane::registry {

void add_found_before(const WriteMode& mode, FieldErrors& errors) {
  if (mode.found_before != nullptr) errors.add(*mode.found_before);
}

Status before_create(const ResourceConfig& config, const WriteMode& mode, const GatedFields* gated, RequestContext& context,
                     Object& object) {
  const Strategy& strategy = *mode.strategy;
  Status scoped = ensure_namespace(object, strategy.facts().namespaced ? std::string_view(context.info.ns) : std::string_view());
  if (!scoped.ok()) return scoped;

  Value managers = take_managed_fields(object);
  if (strategy.facts().generation) ObjectMeta(object).set_generation(1);
  const KindFacts& facts = strategy.facts();
  if (facts.status && !facts.status_on_create) object.stable_erase("status");
  if (!facts.initial_status.is_null()) object["status"] = facts.initial_status;
  if (gated != nullptr) gated->apply(object, nullptr);
  strategy.prepare_for_create(context, object);
  // The strategy may have removed structs that the type always has; canonical_form() adds them again at their positions.
  Status shaped = canonical_form(config.schema, object);
  if (!shaped.ok()) return shaped;
  put_managed_fields(object, std::move(managers), config.schema != nullptr && config.schema->structural());

  FieldErrors errors;
  const auto validate_metadata = [&] { validate_object_meta(object, facts.namespaced, facts.name_rule, errors); };
  if (!facts.metadata_last) validate_metadata();
  add_found_before(mode, errors);
  const ObjectPart checked = facts.status_on_create ? ObjectPart::kWhole : facts.checked;
  if (config.schema != nullptr) config.schema->check(object, nullptr, checked, "", errors);
  strategy.validate(context, object, errors);
  if (facts.metadata_last && errors.empty()) validate_metadata();
  if (!errors.empty()) return errors.to_status(config.kind.group, config.kind.kind, meta_name(object));

  for (const std::string& text : strategy.warnings(object, nullptr)) context.warn(text);
  strategy.canonicalize(object);
  return {};
}

}  // namespace backplane::registry
