// Validation of custom resources with the messages of kube-openapi's validators.
//
// Thread-safety: const walks over immutable schemas.
#include <algorithm>
#include <unordered_map>

#include "engine/schema_change.hpp"
#include "schema/checker.hpp"
#include "schema/findings.hpp"
#include "schema/old_items.hpp"

namespace backplane::schema {
namespace {

const Constraints* rules(const Type& type) { return type.body().constraints.get(); }

// "integer,string": the type words of a schema; empty when it names none.
std::string type_words(const Type& type) {
  if (rules(type) && !rules(type)->typed) return {};
  switch (type.form()) {
    case Form::kStruct:
    case Form::kMap:
      return "object";
    case Form::kList:
      return "array";
    case Form::kString:
      return "string";
    case Form::kBool:
      return "boolean";
    case Form::kInt32:
    case Form::kInt64:
      return "integer";
    case Form::kDouble:
      return "number";
    case Form::kIntOrString:
      return "integer,string";
    default:
      return {};
  }
}

std::string_view type_of(const Value& value) noexcept {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "boolean";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
    case json::kind::double_:
      return "number";
    default:
      return "integer";
  }
}

bool contains(std::string_view words, std::string_view word) noexcept { return words.find(word) != std::string_view::npos; }

const Type* part_of(const Type& type, std::string_view member) {
  const Body& body = type.body();
  const int index = body.find(member, 0);
  if (index >= 0) return body.properties[static_cast<std::size_t>(index)].type;
  return type.form() == Form::kList ? nullptr : body.items;
}
const Type* items_of(const Type& type) { return type.form() == Form::kList ? type.body().items : nullptr; }
const ListIdentity& identity_of(const Type& type) {
  static const ListIdentity kPlain;
  return rules(type) != nullptr ? rules(type)->items : kPlain;
}

// The old value, and the schema that identifies its parts: the schema of the value itself, not of an alternative within it.  Null: there
// was no old value.
struct Before {
  const Value* value = nullptr;
  const Type* shape = nullptr;

  Before member(std::string_view name) const {
    const Type* part = value != nullptr && value->is_object() ? part_of(*shape, name) : nullptr;
    const Value* was = part != nullptr ? find(value->get_object(), name) : nullptr;
    return was != nullptr ? Before{was, part} : Before{};
  }
};

bool unchanged(const Value& now, const Before& before);

bool items_unchanged(const Array& now, const Before& before) {
  const Type* items = items_of(*before.shape);
  const ListIdentity& identity = identity_of(*before.shape);
  if (items == nullptr || identity.kind != ListKind::kMap) return before.value->get_array() == now;
  const OldItems old(identity, before.value);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Value* was = old.of(now[i], i);
    if (was == nullptr || !unchanged(now[i], {was, items})) return false;
  }
  return true;
}

// Upstream's comparison for ratcheting: the items of a map in any order; an object with members that the schema does not have never
// equals another one.
bool unchanged(const Value& now, const Before& before) {
  const Value& old = *before.value;
  if (now.is_array()) {
    return old.is_array() && old.get_array().size() == now.get_array().size() && items_unchanged(now.get_array(), before);
  }
  if (!now.is_object()) return now == old;
  if (!old.is_object() || old.get_object().size() != now.get_object().size()) return false;
  const Object& members = now.get_object();
  return std::all_of(members.begin(), members.end(), [&](const auto& member) {
    const Before was = before.member(member.key());
    return was.value != nullptr && unchanged(member.value(), was);
  });
}

class Validator {
 public:
  // With the old value, problems may be ratcheted.
  Findings run(const Value& value, const Type& type, const Place& place, const Before& before) {
    Findings out = check_value(value, type, place, before);
    if (!out.valid() && before.value != nullptr && unchanged(value, before)) out.clear();
    return out;
  }

 private:
  Findings check_value(const Value& value, const Type& type, const Place& place, const Before& before) {
    Findings out;
    if (value.is_null()) {
      check_type(value, type, place, out);
      check_enum(value, type, place, out);
      return out;
    }
    const bool has_type = !type_words(type).empty() || (rules(type) && !rules(type)->format.empty());
    if (has_type) {
      check_type(value, type, place, out);
      out.count();
    }
    if (rules(type)) check_logic(value, *rules(type), place, before, out);
    out.count();
    check_scalar(value, type, place, out);
    if (value.is_array()) check_list(value.get_array(), type, place, before, out);
    check_enum(value, type, place, out);
    out.count();
    if (value.is_object()) check_object(value.get_object(), type, place, before, out);
    out.count();
    return out;
  }

  static void check_type(const Value& value, const Type& type, const Place& place, Findings& out) {
    const std::string words = type_words(type);
    const Constraints* rule = rules(type);
    const std::string_view format = rule ? std::string_view(rule->format) : std::string_view();
    const std::string_view have = type_of(value);
    if (value.is_null()) {
      if (!words.empty() && !(rule && rule->nullable)) out.type_mismatch(place.path(), words, have);
      return;
    }
    const bool whole_float = value.is_double() && is_whole(value.get_double()) && contains(words, "integer");
    const bool fits = contains(words, have) || whole_float || (have == "integer" && contains(words, "number"));
    const bool text_like = value.is_string() || value.is_array();
    if (!format.empty() && !text_like && !fits) {
      const std::string_view wire = value.is_double() ? "float64" : have == "integer" ? "int64" : "";
      if (wire != format) return out.type_mismatch(place.path(), format, wire);
    }
    const bool numeric = contains(words, "number") || contains(words, "integer");
    if (!numeric && !format.empty() && text_like) return out.count();
    if (!words.empty() && !fits) return out.type_mismatch(place.path(), words, have);
    out.count();
  }

  static void check_scalar(const Value& value, const Type& type, const Place& place, Findings& out) {
    const Constraints* rule = rules(type);
    if (value.is_string()) {
      if (rule) check_string(value.get_string(), *rule, place, out);
      out.count();
    } else if (value.is_number()) {
      check_number(value, type_words(type), rule, place, out);
      out.count(2);
    }
  }

  void check_list(const Array& array, const Type& type, const Place& place, const Before& before, Findings& out) {
    const Type* items = items_of(type);
    const Type* shape = before.value != nullptr ? items_of(*before.shape) : nullptr;
    const ListIdentity& identity = identity_of(shape != nullptr ? *before.shape : type);
    // Upstream does not ratchet inside any other list.
    const OldItems old(identity, shape != nullptr && identity.kind == ListKind::kMap ? before.value : nullptr);
    for (std::size_t i = 0; items != nullptr && i < array.size(); ++i) {
      const Value* was = old.of(array[i], i);
      out.merge(run(array[i], *items, place.item(i), was != nullptr ? Before{was, shape} : Before{}));
    }
    if (const Constraints* rule = rules(type)) check_list_size(array, *rule, place, out);
    out.count(2);
  }

  void check_enum(const Value& value, const Type& type, const Place& place, Findings& out) {
    const Constraints* rule = rules(type);
    if (!rule || rule->enumeration.empty()) return;
    for (const Value& allowed : rule->enumeration) {
      if (is_allowed_value(value, allowed)) return;
    }
    std::string& supported = supported_[rule];
    if (supported.empty()) supported = supported_values(rule->enumeration);
    out.not_supported(place.path(), value, supported);
  }

  void check_object(const Object& object, const Type& type, const Place& place, const Before& before, Findings& out) {
    const Constraints* rule = rules(type);
    if (rule) check_object_size(object, *rule, place, out);
    const Type* additional = type.form() == Form::kList ? nullptr : type.body().items;
    if (rule && rule->additional_forbidden) forbid_others(object, type, place, out);
    for (const auto& member : object) {
      if (additional && type.body().find(member.key(), 0) < 0)
        out.merge(run(member.value(), *additional, place.dotted(member.key()), before.member(member.key())));
    }
    for (const Property& property : type.body().properties) {
      if (const Value* value = find(object, property.name)) {
        out.merge(run(*value, *property.type, place.member(property.name), before.member(property.name)));
      }
    }
    if (!rule) return;
    for (const std::string& name : rule->required) {
      if (!object.contains(name)) out.required(place.member(name).path());
    }
  }

  // Reports members that an alternative does not declare. They are not pruned, because only the value's own schema prunes.
  static void forbid_others(const Object& object, const Type& type, const Place& place, Findings& out) {
    for (const auto& member : object) {
      if (type.body().find(member.key(), 0) >= 0) continue;
      const std::string key(member.key());
      out.invalid(place.path(), Value(key), place.path() + "." + key + " in body is a forbidden property");
    }
  }

  // Alternatives are checked on the new value; the old value's parts are used for ratcheting.
  void check_logic(const Value& value, const Constraints& rule, const Place& place, const Before& before, Findings& out) {
    if (!rule.any_of.empty()) any_of(value, rule, place, before, out);
    if (!rule.one_of.empty()) one_of(value, rule, place, before, out);
    if (!rule.all_of.empty()) all_of(value, rule, place, before, out);
    if (rule.not_schema && check_value(value, *rule.not_schema, place, before).valid())
      out.plain(quoted(place.path()) + " must not validate the schema (not)");
    out.count();
  }

  // If all alternatives fail, the one with the most matches is reported.
  static void keep_best(std::optional<Findings>& best, Findings&& one) {
    if (!best || one.matches() > best->matches()) best = std::move(one);
  }
  void any_of(const Value& value, const Constraints& rule, const Place& place, const Before& before, Findings& out) {
    std::optional<Findings> best;
    for (const Type* alternative : rule.any_of) {
      Findings one = check_value(value, *alternative, place, before);
      if (one.valid()) return out.merge(std::move(one));
      keep_best(best, std::move(one));
    }
    out.plain(quoted(place.path()) + " must validate at least one schema (anyOf)");
    out.merge(std::move(*best));
  }
  void one_of(const Value& value, const Constraints& rule, const Place& place, const Before& before, Findings& out) {
    std::optional<Findings> best, success;
    std::size_t good = 0;
    for (const Type* alternative : rule.one_of) {
      Findings one = check_value(value, *alternative, place, before);
      if (one.valid()) {
        if (good++ == 0) success = std::move(one);
      } else {
        keep_best(best, std::move(one));
      }
    }
    if (good == 1) return out.merge(std::move(*success));
    const std::string found = good == 0 ? "Found none valid" : "Found " + std::to_string(good) + " valid alternatives";
    out.plain(quoted(place.path()) + " must validate one and only one schema (oneOf). " + found);
    if (good == 0) out.merge(std::move(*best));
  }
  void all_of(const Value& value, const Constraints& rule, const Place& place, const Before& before, Findings& out) {
    std::size_t good = 0;
    for (const Type* part : rule.all_of) {
      Findings one = check_value(value, *part, place, before);
      if (one.valid()) ++good;
      out.merge(std::move(one));
    }
    if (good == rule.all_of.size()) return;
    out.plain(quoted(place.path()) + " must validate all the schemas (allOf)" + (good == 0 ? ". None validated" : ""));
  }

  std::unordered_map<const Constraints*, std::string> supported_;  // the error text of each enum that the value violates
};

}  // namespace

void Type::validate(const Value& value, const std::string& path, FieldErrors& errors) const {
  if (!structural()) return;
  const Place root = Place::root(path);
  Validator().run(value, *this, root, {}).report(errors);
  if (set().embedded_resources) check_embedded(value, *this, root, errors);
  check_list_types(value, *this, root, errors);
}

namespace {

// Upstream validates a status without the object around it: texts name members of the status alone, fields have the whole path.
void check_structural_status(const Type& type, const Object& object, const Object* old, FieldErrors& errors) {
  const Value* status = find(object, "status");
  const Type* schema = part_of(type, "status");
  // A null status counts as absent.
  if (status == nullptr || status->is_null() || schema == nullptr) return;
  FieldErrors found;
  validate_change(*schema, *status, old != nullptr ? find(*old, "status") : nullptr, "", found);
  for (FieldError error : found.list()) {
    error.field = error.field.empty() ? "status" : "status." + error.field;
    errors.add(std::move(error));
  }
}

}  // namespace

void check_structural(const Type& type, const Object& object, const Object* old, ObjectPart part, FieldErrors& errors) {
  if (part == ObjectPart::kNone) return;
  if (part == ObjectPart::kStatus) return check_structural_status(type, object, old, errors);
  const Value whole(object, object.storage());
  if (old == nullptr) return type.validate(whole, "", errors);
  const Value before(*old, old->storage());
  validate_change(type, whole, &before, "", errors);
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

void validate_change(const Schema& schema, const Value& now, const Value* before, const std::string& path, FieldErrors& errors) {
  const auto* type = schema.compiled();
  if (type == nullptr || before == nullptr || !type->structural()) return schema.validate(now, path, errors);
  const schema::Place root = schema::Place::root(path);
  // Most values are valid: only invalid ones are compared with their old values.
  if (!schema::Validator().run(now, *type, root, {}).valid()) schema::Validator().run(now, *type, root, {before, type}).report(errors);
  if (type->set().embedded_resources) schema::check_embedded(now, *type, root, errors);
  FieldErrors known;
  schema::check_list_types(*before, *type, root, known);
  if (known.empty()) schema::check_list_types(now, *type, root, errors);
}

}  // namespace BACKPLANE_API
