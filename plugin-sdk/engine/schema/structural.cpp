// Structural mode: what apiextensions-apiserver does to a custom resource between its JSON and its storage.
//
// Order of a decoding: metadata is read as ObjectMeta, unknown members are pruned, nulls of members that are not nullable and have no
// default are removed, embedded resources get the same treatment as the root, keys are sorted.
#include <algorithm>

#include "engine/schema_prune.hpp"
#include "schema/constraints.hpp"
#include "schema/findings.hpp"
#include "schema/place.hpp"
#include "schema/typed.hpp"

namespace backplane::schema {
namespace {

// The number of unknown members that are reported, as upstream.
constexpr std::size_t kMaxUnknown = 100;
constexpr std::size_t kMaxUnknownBytes = 1024 * 1024;
constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

bool is_meta_field(std::string_view key) noexcept { return key == "apiVersion" || key == "kind" || key == "metadata"; }

const Constraints* rules(const Type* type) { return type ? type->body().constraints.get() : nullptr; }
bool preserves(const Type* type) { return rules(type) && rules(type)->preserve_unknown; }
bool is_embedded(const Type* type) { return rules(type) && rules(type)->embedded_resource; }

const Type* property_of(const Type* type, std::string_view key) {
  if (!type) return nullptr;
  const int index = type->body().find(key, 0);
  return index < 0 ? nullptr : type->body().properties[static_cast<std::size_t>(index)].type;
}
// The schema of items of a list, of values of a map; null when there is none.
const Type* items_of(const Type* type) { return type && type->form() == Form::kList ? type->body().items : nullptr; }
const Type* additional_of(const Type* type) { return type && type->form() != Form::kList ? type->body().items : nullptr; }

// Removes members that the schema does not have.
class Pruner {
 public:
  std::vector<std::string> unknown;  // the paths of the first unknown members

  void prune(Value& value, const Type* type, const Place& place, bool embedded) {
    if (value.is_array()) {
      std::size_t index = 0;
      for (Value& item : value.get_array()) {
        const Place at = place.item(index++);
        if (preserves(type)) {
          if (items_of(type)) walk_preserved(item, items_of(type), at);
        } else {
          prune(item, items_of(type), at, is_embedded(items_of(type)));
        }
      }
    } else if (value.is_object()) {
      if (preserves(type)) {
        walk_preserved_object(value.get_object(), type, place, embedded);
      } else {
        prune_object(value.get_object(), type, place, embedded);
      }
    }
  }

 private:
  void note(const Place& place) {
    if (unknown.size() >= kMaxUnknown || unknown_bytes_ >= kMaxUnknownBytes) return;
    unknown.push_back(place.path());
    unknown_bytes_ += unknown.back().size();
  }

  void prune_object(Object& object, const Type* type, const Place& place, bool embedded) {
    std::vector<std::string> dropped;
    for (auto& member : object) {
      const std::string_view key = member.key();
      if (embedded && is_meta_field(key)) continue;
      const Type* known = property_of(type, key);
      const bool additional = type && (additional_of(type) || (rules(type) && rules(type)->additional_allowed));
      if (known || additional) {
        const Type* next = known ? known : additional_of(type);
        prune(member.value(), next, place.member(key), is_embedded(next));
      } else {
        dropped.emplace_back(key);
      }
    }
    for (const std::string& key : dropped) {
      if (!is_meta_field(key) || place.parent != nullptr) note(place.member(key));
      object.erase(key);
    }
  }

  // Below x-kubernetes-preserve-unknown-fields, only values that the schema describes are pruned inside.
  void walk_preserved(Value& value, const Type* type, const Place& place) {
    if (value.is_object()) walk_preserved_object(value.get_object(), type, place, is_embedded(type));
    if (value.is_array() && items_of(type)) {
      std::size_t index = 0;
      for (Value& item : value.get_array()) walk_preserved(item, items_of(type), place.item(index++));
    }
  }
  void walk_preserved_object(Object& object, const Type* type, const Place& place, bool embedded) {
    for (auto& member : object) {
      const std::string_view key = member.key();
      if (embedded && is_meta_field(key)) continue;
      const Type* known = property_of(type, key);
      const Type* next = known ? known : additional_of(type);
      if (next) prune(member.value(), next, place.member(key), is_embedded(next));
    }
  }

  std::size_t unknown_bytes_ = 0;
};

bool drops_null(const Type* type) { return type && !(rules(type) && (rules(type)->nullable || rules(type)->default_value)); }

void drop_nulls(Value& value, const Type* type) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) drop_nulls(item, items_of(type));
    return;
  }
  if (!value.is_object()) return;
  std::vector<std::string> dropped;
  for (auto& member : value.get_object()) {
    const Type* known = property_of(type, member.key());
    const Type* next = known ? known : additional_of(type);
    if (member.value().is_null() && drops_null(next)) {
      dropped.emplace_back(member.key());
    } else {
      drop_nulls(member.value(), next);
    }
  }
  for (const std::string& key : dropped) value.get_object().erase(key);
}

// Sorts the keys at every level, and stores numbers as doubles that Go holds as float64.
void normalize_for_storage(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) normalize_for_storage(item);
  } else if (value.is_object()) {
    for (auto& member : value.get_object()) normalize_for_storage(member.value());
    sort_keys(value.get_object());
  } else if (value.is_uint64()) {
    value = static_cast<double>(value.get_uint64());
  }
}

// Converts one metadata object to ObjectMeta's canonical form.  The error is Go's.
std::optional<DecodeError> coerce_metadata(Value& metadata, const Place& place, std::vector<std::string>& unknown) {
  static const Type* const type = static_cast<const Type*>(meta_schemas()->find(kObjectMeta));
  DecodeReport report;
  Decode decode(&report);
  if (metadata.is_null()) metadata = Object(metadata.storage());
  decode_value(*type, metadata, decode, Frame{});
  if (auto error = decode.finish()) return error;
  for (const std::string& problem : report.problems) {
    if (unknown.size() >= kMaxUnknown) break;
    // `unknown field "labels2"`: the path within metadata, in quotes.
    const std::size_t quote = problem.find('"');
    unknown.push_back(place.path() + "." + problem.substr(quote + 1, problem.size() - quote - 2));
  }
  return std::nullopt;
}

// Checks and converts metadata, apiVersion and kind of embedded resources, wherever the schema has such resources.
class Embedder {
 public:
  std::vector<std::string> unknown;
  std::optional<FieldError> error;

  void coerce(Value& value, const Type* type, const Place& place) {
    if (!type || error) return;
    if (value.is_array()) {
      std::size_t index = 0;
      for (Value& item : value.get_array()) coerce(item, items_of(type), place.item(index++));
    } else if (value.is_object()) {
      coerce_object(value.get_object(), type, place);
    }
  }

 private:
  void coerce_object(Object& object, const Type* type, const Place& place) {
    for (auto& member : object) {
      const std::string_view key = member.key();
      const Place at = place.member(key);
      if (is_embedded(type)) meta_member(key, member.value(), at);
      if (error) return;
      const Type* known = property_of(type, key);
      coerce(member.value(), known ? known : additional_of(type), at);
    }
  }
  void meta_member(std::string_view key, Value& value, const Place& place) {
    if (key == "metadata") {
      const Value sent = value;  // coerce_metadata() moves parts out of `value` before it finds a problem
      const auto problem = coerce_metadata(value, place, unknown);
      if (problem) refuse(place, sent, problem->message());
    } else if ((key == "apiVersion" || key == "kind") && !value.is_string()) {
      refuse(place, value, "must be a string");
    }
  }
  void refuse(const Place& place, const Value& value, std::string_view why) {
    FieldErrors errors;
    errors.invalid_raw(place.path(), to_json(value), why);
    error = errors.list().front();
  }
};

void report_unknown(DecodeReport* report, std::vector<std::string>& paths, bool sorted) {
  if (!report) return;
  if (sorted) std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) report->problems.push_back("unknown field \"" + path + "\"");
}

void default_object(Object& object, const Type& type) {
  for (const std::size_t index : type.body().with_defaults) {
    const Property& property = type.body().properties[index];
    Value* present = find(object, property.name);
    if (!present) {
      object.emplace(property.name, *property.default_value);
    } else if (present->is_null() && !(rules(property.type) && rules(property.type)->nullable)) {
      *present = *property.default_value;
    }
  }
  for (auto& member : object) {
    const Type* known = property_of(&type, member.key());
    const Type* next = known ? known : additional_of(&type);
    if (!next) continue;
    const Constraints* next_rules = rules(next);
    if (!known && member.value().is_null() && next_rules && !next_rules->nullable && next_rules->default_value) {
      member.value() = *next_rules->default_value;
    }
    default_structural(*next, member.value());
  }
  sort_keys(object);
}

}  // namespace

void default_structural(const Type& type, Value& value) {
  if (value.is_object()) {
    default_object(value.get_object(), type);
  } else if (value.is_array() && items_of(&type)) {
    const Type& items = *items_of(&type);
    const Constraints* item_rules = rules(&items);
    for (Value& item : value.get_array()) {
      if (item.is_null() && item_rules && !item_rules->nullable && item_rules->default_value) item = *item_rules->default_value;
      default_structural(items, item);
    }
  }
}

Status normalize_structural(const Type& type, Value& value, DecodeReport* report) {
  if (!value.is_object())
    return bad_request("json: cannot unmarshal " + value_words(value, false) + " into Go value of type map[string]interface {}");
  std::vector<std::string> meta_unknown;
  if (Value* metadata = find(value.get_object(), "metadata")) {
    if (auto error = coerce_metadata(*metadata, Place::root("metadata"), meta_unknown)) return bad_request(error->message());
  }
  Pruner pruner;
  const bool keeps_unknown = rules(&type) && rules(&type)->keeps_unknown;
  if (!keeps_unknown) pruner.prune(value, &type, Place(), true);
  // Applied values keep their nulls, which are errors of fields that are not nullable.
  if (!keeps_unknown && (report == nullptr || !report->restore)) drop_nulls(value, &type);
  Embedder embedder;
  embedder.coerce(value, &type, Place());
  if (embedder.error) return bad_request(embedder.error->field + ": " + embedder.error->text);
  report_unknown(report, meta_unknown, false);
  report_unknown(report, pruner.unknown, true);
  report_unknown(report, embedder.unknown, true);
  normalize_for_storage(value);
  return {};
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

bool would_prune(const Schema& schema, const Value& value) {
  const auto* type = schema.compiled();
  if (type == nullptr || !value.is_structured()) return false;
  Value pruned(value);
  schema::Pruner().prune(pruned, type, schema::Place(), schema::is_embedded(type));
  return pruned != value;
}

std::optional<FieldError> unreadable_resource(const Schema& schema, const Value& value) {
  const auto* type = schema.compiled();
  if (type == nullptr || !value.is_structured()) return std::nullopt;
  Value copy(value);
  schema::Embedder embedder;
  embedder.coerce(copy, type, schema::Place());
  return std::move(embedder.error);
}

void check_resources(const Schema& schema, const Value& value, FieldErrors& errors) {
  if (const auto* type = schema.compiled()) schema::check_embedded(value, *type, schema::Place(), errors);
}

}  // namespace BACKPLANE_API
