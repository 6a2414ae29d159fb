#include "definition_strategy.hpp"

#include <algorithm>
#include <cctype>

#include "backplane/rest/written_fields.hpp"
#include "backplane/types/names.hpp"
#include "definition.hpp"
#include "definition_validation.hpp"
#include "schema_warnings.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::string_view kNameRuleText = "must be spec.names.plural+\".\"+spec.group";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

void fill(Object& object, std::string_view key, const std::string& text) {
  if (get_string(object, key).empty() && !text.empty()) object[key] = text;
}

// Adds the storage version to status.storedVersions if it is missing.
void note_stored_version(Object& crd) {
  const Object* storage = storage_version_of(crd);
  if (storage == nullptr) return;
  const std::string name(get_string(*storage, "name"));
  Array& stored = ensure_array(ensure_object(crd, "status"), "storedVersions");
  const bool known = std::any_of(stored.begin(), stored.end(), [&](const Value& v) { return text_of(v) == name; });
  if (!known) stored.emplace_back(name);
}

// An empty list counts as missing. Upstream does the same at each read of a definition.
void fill_stored_versions(Object& crd) {
  if (texts(ensure_object(crd, "status"), "storedVersions").empty()) note_stored_version(crd);
}

class DefinitionStrategy final : public Strategy {
 public:
  DefinitionStrategy() : Strategy({.namespaced = false, .unconditional_update = false, .generation = true, .status = true}) {}

  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    Object& names = ensure_object(spec, "names");
    const std::string kind(get_string(names, "kind"));
    fill(names, "singular", lower(kind));
    if (!kind.empty()) fill(names, "listKind", kind + "List");
    if (get_object(spec, "conversion") == nullptr) ensure_object(spec, "conversion")["strategy"] = "None";
    fill_webhook_port(spec);
    drop_empty_webhook(spec);
    fill_stored_versions(object);
  }

  void prepare_for_create(RequestContext&, Object& object) const override {
    object["status"] = Object(object.storage());
    note_stored_version(object);
  }
  void prepare_for_update(RequestContext&, Object& object, const Object&) const override { note_stored_version(object); }

  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    check_name(object, errors);
    validate_definition(object, nullptr, errors);
  }
  void validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const override {
    validate_definition(object, &old, errors);
  }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override { return schema_warnings(object, old); }

  // The first delete only marks the definition; the controller deletes its objects and then removes the finalizer.
  bool held_by_other_finalizers(const Object& object) const override { return meta_text(object, "deletionTimestamp").empty(); }
  void mark_deleting(Object& object) const override {
    if (!has_finalizer(object, kCleanupFinalizer)) {
      std::vector<std::string> finalizers = ObjectMeta(object).finalizers();
      finalizers.emplace_back(kCleanupFinalizer);
      ObjectMeta(object).set_finalizers(finalizers);
    }
    set_condition(object, {"Terminating", "True", "InstanceDeletionPending",
                           "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"});
  }

 private:
  static void fill_webhook_port(Object& spec) {
    Value* service = nullptr;
    Value* at = find(spec, "conversion");
    for (std::string_view key : {"webhook", "clientConfig", "service"}) {
      at = at != nullptr && at->is_object() ? find(at->get_object(), key) : nullptr;
      service = at;
    }
    if (service == nullptr || !service->is_object()) return;
    if (!get_int(service->get_object(), "port")) service->get_object()["port"] = 443;
  }

  // Upstream's internal version cannot represent an empty spec.conversion.webhook.
  static void drop_empty_webhook(Object& spec) {
    Object& conversion = ensure_object(spec, "conversion");
    const Object* webhook = get_object(conversion, "webhook");
    if (webhook == nullptr || get_object(*webhook, "clientConfig") != nullptr) return;
    if (texts(*webhook, "conversionReviewVersions").empty()) erase_member(conversion, "webhook");
  }

  // In addition to the rules of every name: the name must be derived from the spec.
  static void check_name(const Object& object, FieldErrors& errors) {
    const std::string required =
        std::string(get_string(names_of(object), "plural")) + "." + std::string(get_string(spec_of(object), "group"));
    for (const auto& [key, field] : {std::pair("generateName", "metadata.generateName"), std::pair("name", "metadata.name")}) {
      const std::string_view text = meta_text(object, key);
      if (!text.empty() && text != required) errors.invalid(field, text, kNameRuleText);
    }
  }
};

class DefinitionStatusStrategy final : public Strategy {
 public:
  DefinitionStatusStrategy() : Strategy({.namespaced = false, .unconditional_update = false, .has_tables = false}) {}
  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = {"metadata", "spec"}}; }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    if (const Value* spec = find(old, "spec")) object["spec"] = *spec;
    fill_stored_versions(object);
  }
  void validate_update(RequestContext&, const Object& object, const Object&, FieldErrors& errors) const override {
    validate_names(accepted_names_of(object), "status.acceptedNames", errors);
  }
};

}  // namespace

std::shared_ptr<const Strategy> make_definition_strategy() { return std::make_shared<DefinitionStrategy>(); }
std::shared_ptr<const Strategy> make_definition_status_strategy() { return std::make_shared<DefinitionStatusStrategy>(); }

}  // namespace backplane::apiextensions
