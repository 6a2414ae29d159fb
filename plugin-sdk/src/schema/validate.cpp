// Validation of custom resources, worded as kube-openapi's validators word it.
//
// Thread-safety: const walks over immutable schemas.
#include <unordered_map>

#include "backplane/schema_change.hpp"
#include "schema/findings.hpp"

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

class Validator {
 public:
  // With `old`, the value as it was, what is wrong with it may be wrong as before.
  Findings run(const Value& value, const Type& type, const Place& place, const Value* old) {
    Findings out = judge(value, type, place, old);
    if (!out.valid() && old != nullptr && *old == value) out.forgive();
    return out;
  }

 private:
  Findings judge(const Value& value, const Type& type, const Place& place, const Value* old) {
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
    if (rules(type)) check_logic(value, *rules(type), place, out);
    out.count();
    check_scalar(value, type, place, out);
    if (value.is_array()) check_list(value.get_array(), type, place, old, out);
    check_enum(value, type, place, out);
    out.count();
    if (value.is_object()) check_object(value.get_object(), type, place, old, out);
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

  // The items of a list-type map as they were, by their keys; other lists have no items that stay themselves.
  using OldItems = std::unordered_map<std::string, const Value*>;
  static OldItems old_items(const Constraints* rule, const Value* old) {
    OldItems items;
    if (rule == nullptr || rule->list_kind != ListKind::kMap || old == nullptr || !old->is_array()) return items;
    for (const Value& item : old->get_array()) items.emplace(to_json(list_key_of(item, rule->list_map_keys)), &item);
    return items;
  }

  void check_list(const Array& array, const Type& type, const Place& place, const Value* old, Findings& out) {
    const Constraints* rule = rules(type);
    const OldItems before = old_items(rule, old);
    for (std::size_t i = 0; type.form() == Form::kList && type.body().items && i < array.size(); ++i) {
      const auto was = before.empty() ? before.end() : before.find(to_json(list_key_of(array[i], rule->list_map_keys)));
      out.merge(run(array[i], *type.body().items, place.item(i), was == before.end() ? nullptr : was->second));
    }
    if (rule) check_list_size(array, *rule, place, out);
    out.count(2);
  }

  static void check_enum(const Value& value, const Type& type, const Place& place, Findings& out) {
    const Constraints* rule = rules(type);
    if (!rule || rule->enumeration.empty()) return;
    for (const Value& allowed : rule->enumeration) {
      if (allowed == value) return;
    }
    out.not_supported(place.path(), value, rule->enumeration);
  }

  void check_object(const Object& object, const Type& type, const Place& place, const Value* old, Findings& out) {
    const Constraints* rule = rules(type);
    const Object* before = old != nullptr ? old->if_object() : nullptr;
    const auto was = [&](std::string_view key) { return before != nullptr ? find(*before, key) : nullptr; };
    if (rule) check_object_size(object, *rule, place, out);
    const Type* additional = type.form() == Form::kList ? nullptr : type.body().items;
    for (const auto& member : object) {
      if (additional && type.body().find(member.key(), 0) < 0)
        out.merge(run(member.value(), *additional, place.dotted(member.key()), was(member.key())));
    }
    for (const Property& property : type.body().properties) {
      if (const Value* value = find(object, property.name)) {
        out.merge(run(*value, *property.type, place.member(property.name), was(property.name)));
      }
    }
    if (!rule) return;
    for (const std::string& name : rule->required) {
      if (!object.contains(name)) out.required(place.member(name).path());
    }
  }

  void check_logic(const Value& value, const Constraints& rule, const Place& place, Findings& out) {
    if (!rule.any_of.empty()) any_of(value, rule, place, out);
    if (!rule.one_of.empty()) one_of(value, rule, place, out);
    if (!rule.all_of.empty()) all_of(value, rule, place, out);
    if (rule.not_schema && run(value, *rule.not_schema, place, nullptr).valid())
      out.plain(quoted(place.path()) + " must not validate the schema (not)");
    out.count();
  }

  // Of several alternatives that fail, the one that got furthest is reported.
  static void keep_best(std::optional<Findings>& best, Findings&& one) {
    if (!best || one.matches() > best->matches()) best = std::move(one);
  }
  void any_of(const Value& value, const Constraints& rule, const Place& place, Findings& out) {
    std::optional<Findings> best;
    for (const Type* alternative : rule.any_of) {
      Findings one = run(value, *alternative, place, nullptr);
      if (one.valid()) return out.merge(std::move(one));
      keep_best(best, std::move(one));
    }
    out.plain(quoted(place.path()) + " must validate at least one schema (anyOf)");
    out.merge(std::move(*best));
  }
  void one_of(const Value& value, const Constraints& rule, const Place& place, Findings& out) {
    std::optional<Findings> best, success;
    std::size_t good = 0;
    for (const Type* alternative : rule.one_of) {
      Findings one = run(value, *alternative, place, nullptr);
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
  void all_of(const Value& value, const Constraints& rule, const Place& place, Findings& out) {
    std::size_t good = 0;
    for (const Type* part : rule.all_of) {
      Findings one = run(value, *part, place, nullptr);
      if (one.valid()) ++good;
      out.merge(std::move(one));
    }
    if (good == rule.all_of.size()) return;
    out.plain(quoted(place.path()) + " must validate all the schemas (allOf)" + (good == 0 ? ". None validated" : ""));
  }
};

}  // namespace

void Type::validate(const Value& value, const std::string& path, FieldErrors& errors) const {
  if (!structural()) return;
  const Place root = Place::root(path);
  Validator().run(value, *this, root, nullptr).report(errors);
  if (set().embedded_resources) check_embedded(value, *this, root, errors);
  check_list_types(value, *this, root, errors);
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

void validate_change(const Schema& schema, const Value& now, const Value* before, const std::string& path, FieldErrors& errors) {
  const auto* type = dynamic_cast<const schema::Type*>(&schema);
  if (type == nullptr || before == nullptr || !type->structural()) return schema.validate(now, path, errors);
  const schema::Place root = schema::Place::root(path);
  // Most values are right: only what is not is compared with what it was.
  if (!schema::Validator().run(now, *type, root, nullptr).valid()) schema::Validator().run(now, *type, root, before).report(errors);
  if (type->set().embedded_resources) schema::check_embedded(now, *type, root, errors);
  FieldErrors known;
  schema::check_list_types(*before, *type, root, known);
  if (known.empty()) schema::check_list_types(now, *type, root, errors);
}

}  // namespace BACKPLANE_API
