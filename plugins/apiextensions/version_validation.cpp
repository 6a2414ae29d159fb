#include "version_validation.hpp"

#include <algorithm>
#include <set>

#include "backplane/types/names.hpp"
#include "field_path.hpp"
#include "go_text.hpp"
#include "schema_rules.hpp"
#include "unpruned_definition.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::size_t kMaxSelectableFields = 8;
constexpr std::size_t kMaxDeprecationWarning = 256;

std::string at_version(std::size_t i) { return "spec.versions[" + std::to_string(i) + "]"; }

bool has_status(const Object& version) { return get_object(object_or_empty(version, "subresources"), "status") != nullptr; }

std::string joined(const Problems& problems) {
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : ",") + problem;
  return text;
}

// ---- subresources

void check_path(std::string_view text, const std::string& path, std::vector<std::string_view> roots, std::string_view detail,
                FieldErrors& errors) {
  if (text.empty()) return;
  if (text.front() != '.') {
    errors.invalid(path, text, "must be a simple json path starting with .");
    return;
  }
  const bool inside = std::any_of(roots.begin(), roots.end(), [&](std::string_view root) { return text.substr(0, root.size()) == root; });
  if (!inside) errors.invalid(path, text, detail);
}

void check_subresources(const Object& version, const std::string& path, FieldErrors& errors) {
  const Object* scale = get_object(object_or_empty(version, "subresources"), "scale");
  if (scale == nullptr) return;
  const std::string at = path + ".scale.";
  for (std::string_view key : {"specReplicasPath", "statusReplicasPath"}) {
    if (get_string(*scale, key).empty()) errors.required(at + std::string(key));
  }
  check_path(get_string(*scale, "specReplicasPath"), at + "specReplicasPath", {".spec."}, "should be a json path under .spec", errors);
  check_path(get_string(*scale, "statusReplicasPath"), at + "statusReplicasPath", {".status."}, "should be a json path under .status",
             errors);
  check_path(get_string(*scale, "labelSelectorPath"), at + "labelSelectorPath", {".spec.", ".status."},
             "should be a json path under either .spec or .status", errors);
}

// ---- additionalPrinterColumns

void check_column(const Object& column, const std::string& path, FieldErrors& errors) {
  static const std::set<std::string_view> kTypes = {"boolean", "date", "integer", "number", "string"};
  static const std::set<std::string_view> kFormats = {"byte", "date", "date-time", "double", "float", "int32", "int64", "password"};
  constexpr std::string_view kTypesText = "must be one of boolean,date,integer,number,string";
  constexpr std::string_view kFormatsText = "must be one of byte,date,date-time,double,float,int32,int64,password";
  const std::string_view type = get_string(column, "type");
  const std::string_view format = get_string(column, "format");
  const std::string_view json_path = get_string(column, "jsonPath");
  if (get_string(column, "name").empty()) errors.required(path + ".name");
  if (type.empty())
    errors.required(path + ".type", kTypesText);
  else if (kTypes.count(type) == 0)
    errors.invalid(path + ".type", type, kTypesText);
  if (!format.empty() && kFormats.count(format) == 0) errors.invalid(path + ".format", format, kFormatsText);
  if (json_path.empty())
    errors.required(path + ".JSONPath");
  else if (json_path.front() != '.')
    errors.invalid(path + ".JSONPath", json_path, "must be a simple json path starting with .");
}

// ---- selectableFields

void check_selectable_fields(const Object& version, const std::string& path, FieldErrors& errors) {
  const auto fields = objects(version, "selectableFields");
  if (fields.empty()) return;
  const Object* schema = schema_of(version);
  if (schema == nullptr) {
    const bool hoisted = path == "spec.selectableFields";  // members that are equal in all versions
    errors.invalid(path, "",
                   hoisted ? "may only be set when validations.schema is included"
                           : "may only be set when `version.schema.openAPIV3Schema` is not included");
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "].jsonPath";
    const std::string_view json_path = get_string(*fields[i], "jsonPath");
    if (json_path.empty()) {
      errors.required(at);
      continue;
    }
    const FieldPath found = follow_path(json_path, *schema, false);
    if (!found.problem.empty()) {
      errors.invalid(at, json_path, "is an invalid path: " + found.problem);
      continue;
    }
    const std::string_view type = found.schema != nullptr ? get_string(*found.schema, "type") : std::string_view();
    if (found.root == "metadata") errors.invalid(at, json_path, "must not point to fields in metadata");
    if (type != "string" && type != "boolean" && type != "integer") {
      errors.invalid(at, json_path,
                     "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.");
    }
    if (!seen.insert(found.text).second) errors.duplicate(at, json_path);
  }
  if (seen.size() > kMaxSelectableFields) errors.too_many(path, static_cast<long long>(seen.size()), kMaxSelectableFields);
}

// ---- one version

// The position of the first character that is escaped in a quoted text; the text's size if there is none.
std::size_t first_unprintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const std::string_view rune = text.substr(i, size);
    if (rune != "\\" && rune != "\"" && quoted(rune).size() != rune.size() + 2) return i;
    i += size;
  }
  return text.size();
}

void check_deprecation(const Object& version, const std::string& path, FieldErrors& errors) {
  const Value* value = find(version, "deprecationWarning");
  if (value == nullptr || !value->is_string()) return;
  const std::string_view text = text_of(*value);
  if (!get_bool(version, "deprecated").value_or(false)) {
    errors.invalid_raw(path + ".deprecationWarning", to_json(*value), "can only be set for deprecated versions");
    return;
  }
  if (text.size() > kMaxDeprecationWarning)
    errors.invalid_raw(path + ".deprecationWarning", to_json(*value), "must be <= 256 characters long");
  if (text.empty()) errors.invalid_raw(path + ".deprecationWarning", to_json(*value), "must not be an empty string");
  if (const std::size_t at = first_unprintable(text); at < text.size()) {
    errors.invalid_raw(path + ".deprecationWarning", to_json(*value),
                       "must only contain printable UTF-8 characters; non-printable character found at index " + std::to_string(at));
  }
}

// True if the old definition has the same schema for this version.
bool is_unchanged(const Object& version, const Object* old) {
  if (old == nullptr) return false;
  const Object* schema = schema_of(version);
  for (const Object* before : versions_of(*old)) {
    if (get_string(*before, "name") != get_string(version, "name")) continue;
    const Object* known = schema_of(*before);
    return schema == nullptr || known == nullptr ? schema == known : *schema == *known;
  }
  return false;
}

void check_columns(const Object& version, const std::string& path, FieldErrors& errors) {
  std::size_t i = 0;
  for (const Object* column : objects(version, "additionalPrinterColumns"))
    check_column(*column, path + "[" + std::to_string(i++) + "]", errors);
}

// Calls `check` for a part of the versions: once, with a path at the spec, if the part is equal in all versions; otherwise for each
// version.
template <class Check>
void each_part(const std::vector<const Object*>& versions, std::string_view key, const std::string& shared_name, Check check) {
  if (is_shared(versions, key)) {
    check(*versions.front(), "spec." + shared_name);
    return;
  }
  for (std::size_t i = 0; i < versions.size(); ++i) check(*versions[i], at_version(i) + "." + std::string(key));
}

void check_set_of_versions(const std::vector<const Object*>& versions, const Object& spec, FieldErrors& errors) {
  const Value* list = find(spec, "versions");
  const auto printed = [&] { return list == nullptr || list->is_null() ? std::string("null") : versions_text(versions); };
  std::set<std::string_view> names;
  int stored = 0;
  for (const Object* version : versions) {
    names.insert(get_string(*version, "name"));
    stored += get_bool(*version, "storage").value_or(false) ? 1 : 0;
  }
  if (names.size() != versions.size()) errors.invalid_raw("spec.versions", printed(), "must contain unique version names");
  if (stored != 1) errors.invalid_raw("spec.versions", printed(), "must have exactly one version marked as storage version");
  // Upstream's type also has the first version's name at the spec, and validates it there, too.
  const std::string_view first = versions.empty() ? std::string_view() : get_string(*versions.front(), "name");
  const Problems problems = first.empty() ? Problems() : is_dns1035_label(first);
  if (!problems.empty()) errors.invalid("spec.version", first, joined(problems));
}

// ---- problems that older servers accepted

bool any_schema_is(const Object& crd, bool (*wrong)(const Object& schema)) {
  const auto versions = versions_of(crd);
  return std::any_of(versions.begin(), versions.end(), [wrong](const Object* version) {
    const Object* schema = schema_of(*version);
    return schema != nullptr && wrong(*schema);
  });
}

bool is_unstructured(const Object& schema) { return !is_structural(schema); }

// Keywords that need a structural schema.
bool needs_structure(const Object& schema) {
  return any_schema(schema, [](const Object& each) {
    constexpr std::string_view kFlags[] = {"x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"};
    constexpr std::string_view kOthers[] = {"default", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-map-keys",
                                            "x-kubernetes-list-type", "x-kubernetes-validations"};
    const auto is_set = [&each](std::string_view word) { return get_bool(each, word).value_or(false); };
    const auto is_there = [&each](std::string_view word) {
      const Value* value = find(each, word);
      return value != nullptr && !value->is_null();
    };
    return std::any_of(std::begin(kFlags), std::end(kFlags), is_set) || std::any_of(std::begin(kOthers), std::end(kOthers), is_there);
  });
}

KnownRules known_of(const Object& crd, const Object* old) {
  KnownRules known = known_rules(old);
  if (old == nullptr) return known;
  known.unknown_types = any_schema_is(*old, has_unknown_types);
  known.unstructured = preserves_unknown_fields(crd) && !any_schema_is(crd, needs_structure) && any_schema_is(*old, is_unstructured);
  return known;
}

bool has_all_schemas(const Object& crd) {
  const auto versions = versions_of(crd);
  return std::all_of(versions.begin(), versions.end(), [](const Object* version) { return schema_of(*version) != nullptr; });
}

void check_schemas_are_there(const Object& crd, const Object* old, FieldErrors& errors) {
  const bool all = old == nullptr || has_all_schemas(*old);
  if (!all && preserves_unknown_fields(crd)) return;
  const auto versions = versions_of(crd);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (schema_of(*versions[i]) != nullptr) continue;
    const std::string path = at_version(i) + ".schema.openAPIV3Schema";
    if (all)
      errors.required(path);
    else if (get_bool(*versions[i], "served").value_or(false))
      errors.required(path, "because otherwise all fields are pruned");
  }
}

}  // namespace

void validate_versions(const Object& crd, const Object* old, FieldErrors& errors) {
  const auto versions = versions_of(crd);
  const bool one_schema = is_shared(versions, "schema");
  check_schemas_are_there(crd, old, errors);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Object& version = *versions[i];
    const Problems problems = is_dns1035_label(get_string(version, "name"));
    if (!problems.empty()) errors.invalid(at_version(i) + ".name", get_string(version, "name"), joined(problems));
    check_deprecation(version, at_version(i), errors);
  }
  const bool any_status = std::any_of(versions.begin(), versions.end(), [](const Object* version) { return has_status(*version); });
  KnownRules known = known_of(crd, old);
  each_part(versions, "schema", "validation", [&](const Object& version, const std::string& path) {
    const Object* schema = schema_of(version);
    if (schema == nullptr) return;
    known.any_cost = is_unchanged(version, old);
    validate_schema(*schema, path + ".openAPIV3Schema", one_schema ? any_status : has_status(version), known, errors);
  });
  each_part(versions, "subresources", "subresources",
            [&](const Object& version, const std::string& path) { check_subresources(version, path, errors); });
  each_part(versions, "additionalPrinterColumns", "additionalPrinterColumns",
            [&](const Object& version, const std::string& path) { check_columns(version, path, errors); });
  each_part(versions, "selectableFields", "selectableFields",
            [&](const Object& version, const std::string& path) { check_selectable_fields(version, path, errors); });
  check_set_of_versions(versions, spec_of(crd), errors);
}

}  // namespace backplane::apiextensions
