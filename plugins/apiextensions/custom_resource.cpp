#include "custom_resource.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "definition.hpp"
#include "engine/schema_change.hpp"
#include "webhook_config.hpp"

namespace backplane::apiextensions {
namespace {

std::string_view without_dot(std::string_view path) { return path.substr(0, 1) == "." ? path.substr(1) : path; }

// "group/v1alpha1 Thing is deprecated; use group/v1 Thing".
std::string default_deprecation(const Object& crd, std::string_view version) {
  const std::string group(get_string(spec_of(crd), "group"));
  const std::string kind(get_string(names_of(crd), "kind"));
  std::string text = group + "/" + std::string(version) + " " + kind + " is deprecated";
  std::string_view best;
  for (const Object* other : versions_of(crd)) {
    const std::string_view name = get_string(*other, "name");
    const bool usable = get_bool(*other, "served").value_or(false) && !get_bool(*other, "deprecated").value_or(false);
    if (usable && version_precedes(name, version) && (best.empty() || version_precedes(name, best))) best = name;
  }
  if (!best.empty()) text += "; use " + group + "/" + std::string(best) + " " + kind;
  return text;
}

std::optional<Host::ScalePaths> scale_of(const Object& version) {
  const Object* scale = get_object(object_or_empty(version, "subresources"), "scale");
  if (scale == nullptr) return std::nullopt;
  Host::ScalePaths paths;
  paths.spec_replicas = get_string(*scale, "specReplicasPath");
  paths.status_replicas = get_string(*scale, "statusReplicasPath");
  paths.selector = get_string(*scale, "labelSelectorPath");
  return paths;
}

std::vector<SelectableField> fields_of(const Object& version) {
  std::vector<SelectableField> fields;
  for (const Object* field : objects(version, "selectableFields")) {
    const std::string path(without_dot(get_string(*field, "jsonPath")));
    fields.push_back({path, path, ""});
  }
  return fields;
}

CustomVersion read_version(const Object& crd, const Object& version, const std::shared_ptr<const SchemaSource>& source) {
  CustomVersion out;
  out.kind = {std::string(get_string(spec_of(crd), "group")), std::string(get_string(version, "name")),
              std::string(get_string(accepted_names_of(crd), "kind"))};
  out.api_version = out.kind.group_version().to_string();
  out.served = get_bool(version, "served").value_or(false);
  out.stored = get_bool(version, "storage").value_or(false);
  out.schema = lazy_schema(source, out.kind);
  if (const Object* schema = schema_of(version); schema != nullptr && has_rules(*schema))
    out.rules = std::make_shared<const LazyRules>(source, out.kind.version);
  if (get_bool(version, "deprecated").value_or(false)) {
    out.deprecation_warning = get_string(version, "deprecationWarning");
    if (out.deprecation_warning.empty()) out.deprecation_warning = default_deprecation(crd, out.kind.version);
  }
  out.has_status = get_object(object_or_empty(version, "subresources"), "status") != nullptr;
  out.scale = scale_of(version);
  out.table = custom_table(version);
  out.fields = fields_of(version);
  return out;
}

bool has_default(const Value& schema) {
  if (schema.is_array()) return std::any_of(schema.get_array().begin(), schema.get_array().end(), has_default);
  if (!schema.is_object()) return false;
  const Object& words = schema.get_object();
  return words.contains("default") || std::any_of(words.begin(), words.end(), [](const auto& word) { return has_default(word.value()); });
}

// Whether objects may lack defaults of the stored version, because they were written through another version.
bool written_through_others(const Object& crd) {
  const std::vector<const Object*> versions = versions_of(crd);
  const auto is_other = [](const Object* each) {
    return get_bool(*each, "served").value_or(false) && !get_bool(*each, "storage").value_or(false);
  };
  if (std::none_of(versions.begin(), versions.end(), is_other)) return false;
  const Object* stored = storage_version_of(crd);
  const Object* schema = stored != nullptr ? schema_of(*stored) : nullptr;
  return schema != nullptr && has_default(Value(*schema));
}

// Objects are created without a status; a read returns the default status of the schema.
bool has_default_status(const Object& crd) {
  const Object* stored = storage_version_of(crd);
  const Object* schema = stored != nullptr ? schema_of(*stored) : nullptr;
  if (schema == nullptr || get_object(object_or_empty(*stored, "subresources"), "status") == nullptr) return false;
  const Object* status = get_object(object_or_empty(*schema, "properties"), "status");
  return status != nullptr && status->contains("default");
}

// ---- scale

std::string_view go_type(const Value& value) {
  switch (value.kind()) {
    case json::kind::bool_:
      return "bool";
    case json::kind::string:
      return "string";
    case json::kind::object:
      return "map[string]interface {}";
    case json::kind::array:
      return "[]interface {}";
    case json::kind::double_:
      return "float64";
    case json::kind::null:
      return "<nil>";
    case json::kind::uint64:
      return "float64";
    default:
      return "int64";
  }
}

std::string no_such_type(std::string_view path, const Value& value, std::string_view wanted) {
  return "." + std::string(path) + " accessor error: " + go_print(value) + " is of the type " + std::string(go_type(value)) +
         ", expected " + std::string(wanted);
}

// Returns the value at a dotted path like unstructured.NestedFieldNoCopy, also if it is null. Sets `problem` if a value on the path is no
// object.
const Value* nested(const Object& root, std::string_view path, std::string& problem) {
  const Object* object = &root;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const Value* value = find(*object, path.substr(begin, end - begin));
    if (value == nullptr || end == path.size()) return value;
    if (value->is_null()) return nullptr;
    begin = end + 1;
    if (!value->is_object()) {
      problem = no_such_type(path.substr(0, path.find('.', begin)), *value, "map[string]interface{}");
      return nullptr;
    }
    object = &value->get_object();
  }
}

void check_replicas(const Object& object, const std::string& path, FieldErrors& errors) {
  constexpr std::int64_t kMax = 2147483647;
  if (path.empty()) return;
  const std::string_view plain = without_dot(path);
  std::string problem;
  const Value* value = nested(object, plain, problem);
  if (value != nullptr && !value->is_int64()) problem = no_such_type(plain, *value, "int64");
  if (!problem.empty()) {
    errors.invalid(path, 0LL, problem);
  } else if (value != nullptr && value->get_int64() < 0) {
    errors.invalid(path, value->get_int64(), "should be a non-negative integer");
  } else if (value != nullptr && value->get_int64() > kMax) {
    errors.invalid(path, value->get_int64(), "should be less than or equal to 2147483647");
  }
}

void check_scale_status(const CustomVersion& version, const Object& object, FieldErrors& errors) {
  if (!version.scale) return;
  check_replicas(object, version.scale->status_replicas, errors);
  if (version.scale->selector.empty()) return;
  const std::string_view plain = without_dot(version.scale->selector);
  std::string problem;
  const Value* value = nested(object, plain, problem);
  if (value != nullptr && !value->is_string()) problem = no_such_type(plain, *value, "string");
  if (!problem.empty()) errors.invalid(version.scale->selector, "", problem);
}

void check_scale(const CustomVersion& version, const Object& object, FieldErrors& errors) {
  if (version.scale) check_replicas(object, version.scale->spec_replicas, errors);
  check_scale_status(version, object, errors);
}

// ---- validation rules

void ask_rules(const CustomVersion& version, const Value& object, const Value* old, RuleFindings findings, cel::Budget budget) {
  if (version.rules == nullptr) return;
  // A missing name is reported by another check, with the same kind of error.
  const bool nameless = old == nullptr && meta_name(object.get_object()).empty();
  if (nameless || blocks_rules(findings.errors)) return report_rule_stopped(findings.errors);
  run_rules(version.rules->get(), object, old, old != nullptr, "", budget, findings);
}

}  // namespace

const CustomVersion* CustomResource::find(std::string_view version) const noexcept {
  const auto found = std::find_if(versions.begin(), versions.end(), [&](const CustomVersion& v) { return v.kind.version == version; });
  return found == versions.end() ? nullptr : &*found;
}

std::vector<SelectableField> CustomResource::fields() const {
  std::vector<SelectableField> all;
  for (const CustomVersion& version : versions) {
    if (!version.served && !version.stored) continue;
    for (const SelectableField& field : version.fields) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const SelectableField& other) { return other.label == field.label; });
      if (!known) all.push_back(field);
    }
  }
  return all;
}

Revision CustomResource::refresh_until() const noexcept {
  return may_lack_defaults ? std::numeric_limits<Revision>::max() : writes->refresh_until();
}

bool CustomResource::is_current(const Object& stored) const {
  const Revision until = refresh_until();
  if (get_string(stored, "apiVersion") != this->stored().api_version) return false;
  if (until == 0) return true;
  const std::string_view text = meta_text(stored, "resourceVersion");
  Revision revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  return error == std::errc() && end == text.data() + text.size() && revision > until;
}

void CustomResource::complete(Object& stored) const {
  const CustomVersion* version = find(GroupVersion::parse(get_string(stored, "apiVersion")).version);
  const Schema& schema = *(version != nullptr ? version : &this->stored())->schema.root;
  Value whole(std::move(stored));
  if (schema.normalize(whole, nullptr).ok()) schema.apply_defaults(whole);
  if (whole.is_object()) stored = std::move(whole.get_object());
}

void CustomResource::convert_to_stored_version(Object& stored) const {
  complete(stored);
  const CustomVersion& version = this->stored();
  if (get_string(stored, "apiVersion") == version.api_version || by_webhook) return;
  stored["apiVersion"] = version.api_version;
  Value whole(std::move(stored));
  // An object that violates the schema is kept unchanged.
  const Status ignored = version.schema.root->normalize(whole, nullptr);
  if (whole.is_object()) stored = std::move(whole.get_object());
}

Result<std::shared_ptr<const CustomResource>> read_resource(const Object& crd, const std::shared_ptr<const SchemaSource>& source,
                                                            std::shared_ptr<const Writes> writes) {
  auto resource = std::make_shared<CustomResource>();
  const Object& names = accepted_names_of(crd);
  resource->group = get_string(spec_of(crd), "group");
  resource->plural = get_string(names, "plural");
  resource->singular = get_string(names, "singular");
  resource->kind = get_string(names, "kind");
  resource->list_kind = get_string(names, "listKind");
  resource->short_names = texts(names, "shortNames");
  resource->categories = texts(names, "categories");
  resource->namespaced = get_string(spec_of(crd), "scope") == "Namespaced";
  for (const Object* version : versions_of(crd)) {
    const bool stored = get_bool(*version, "storage").value_or(false);
    const bool served = get_bool(*version, "served").value_or(false);
    if (stored) resource->stored_index = resource->versions.size();
    resource->versions.push_back(read_version(crd, *version, source));
    resource->versions.back().served = served;
  }
  if (resource->versions.empty()) return internal_error("the definition of " + resource->plural + " has no version to store");
  resource->may_lack_defaults = written_through_others(crd) || has_default_status(crd);
  resource->by_webhook = converts_by_webhook(crd);
  resource->writes = std::move(writes);
  return std::shared_ptr<const CustomResource>(std::move(resource));
}

void validate_custom(const CustomVersion& version, const Object& object, RuleFindings findings, cel::Budget budget) {
  const Value whole(object);
  version.schema.root->validate(whole, "", findings.errors);
  check_scale(version, object, findings.errors);
  ask_rules(version, whole, nullptr, findings, std::move(budget));
}

void validate_custom_update(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget) {
  const Value whole(object), before(old);
  validate_change(*version.schema.root, whole, &before, "", findings.errors);
  check_scale(version, object, findings.errors);
  ask_rules(version, whole, &before, findings, std::move(budget));
}

void validate_custom_status(const CustomVersion& version, const Object& object, const Object& old, RuleFindings findings,
                            cel::Budget budget) {
  const Value* status = find(object, "status");
  version.schema.root->check(object, &old, ObjectPart::kStatus, "", findings.errors);
  check_scale_status(version, object, findings.errors);
  if (version.rules == nullptr) return;
  const Value before(old);
  Value whole(old);
  if (status != nullptr)
    whole.get_object()["status"] = *status;
  else
    erase_member(whole.get_object(), "status");
  ask_rules(version, whole, &before, findings, std::move(budget));
}

}  // namespace backplane::apiextensions
