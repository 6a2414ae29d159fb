// Makes CEL declarations from schemas.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "cel/types.hpp"

namespace backplane BACKPLANE_API {
namespace cel BACKPLANE_API {
namespace {

using Form = DeclType::Form;

constexpr std::int64_t kMostRequest = 3 * 1024 * 1024;  // bytes of a request, regardless of this server's limit
constexpr std::int64_t kNoText = 2;                     // ""
constexpr std::int64_t kUnknown = -1;                   // elements of an undeclared value
constexpr int kDeepest = 64;                            // nesting depth of schemas, because $refs may be circular

std::shared_ptr<DeclType> made(Form form, std::int64_t min_size, std::int64_t max_elements = 0) {
  auto out = std::make_shared<DeclType>();
  out->form = form;
  out->min_size = min_size;
  out->max_elements = max_elements;
  return out;
}

std::int64_t limit_of(const Object& schema, std::string_view word, std::int64_t otherwise) {
  const auto limit = get_int(schema, word);
  return limit ? std::max<std::int64_t>(*limit, 0) : otherwise;
}

std::shared_ptr<DeclType> int_or_string(const Object& schema) {
  const auto length = get_int(schema, "maxLength");
  auto out = made(Form::kDyn, 1, length ? std::max<std::int64_t>(*length, 0) * 4 : kMostRequest - kNoText);
  out->int_or_string = true;
  return out;
}

std::int64_t longest_of(const Array& values) {
  std::int64_t out = 0;
  for (const Value& each : values) out = std::max(out, static_cast<std::int64_t>(text_of(each).size()));
  return out;
}

std::shared_ptr<DeclType> text(const Object& schema) {
  const std::string_view format = get_string(schema, "format");
  if (format == "byte") return made(Form::kBytes, kNoText, limit_of(schema, "maxLength", kMostRequest - kNoText));
  if (format == "duration") return made(Form::kDuration, 3, 32);
  if (format == "date") return made(Form::kDate, 12, 12);
  if (format == "date-time") return made(Form::kDateTime, 21, 32);
  const Array* values = get_array(schema, "enum");
  std::int64_t longest = values != nullptr && !values->empty() ? longest_of(*values) : kMostRequest - kNoText;
  if (get_int(schema, "maxLength")) longest = limit_of(schema, "maxLength", 0) * 4;  // characters of up to four bytes
  return made(Form::kString, kNoText, longest);
}

class Declarer {
 public:
  explicit Declarer(const Definitions& definitions) : definitions_(definitions) {}

  std::shared_ptr<DeclType> declare(const Object& given, bool root) {
    if (depth_ >= kDeepest) return nullptr;
    ++depth_;
    auto out = resolved(given, root);
    --depth_;
    return out;
  }

 private:
  static bool is_true(const Object& schema, std::string_view word) { return get_bool(schema, word).value_or(false); }
  static bool is_embedded(const Object& schema) { return is_true(schema, "x-kubernetes-embedded-resource"); }

  // The schema itself, or the target of its $ref. The $ref may also be the only part of allOf.
  const Object* target_of(const Object& schema) const {
    std::string_view ref = get_string(schema, "$ref");
    if (const Array* all = get_array(schema, "allOf"); ref.empty() && all != nullptr && all->size() == 1 && all->front().is_object()) {
      ref = get_string(all->front().get_object(), "$ref");
    }
    return ref.empty() || !definitions_ ? &schema : definitions_(ref);
  }

  std::shared_ptr<DeclType> resolved(const Object& given, bool root) {
    const Object* schema = target_of(given);
    if (schema == nullptr) return nullptr;
    auto out = is_true(*schema, "x-kubernetes-int-or-string") ? int_or_string(*schema) : by_type(*schema, root);
    if (out == nullptr) return nullptr;
    out->nullable = is_true(*schema, "nullable");
    out->preserves_unknown = is_true(*schema, "x-kubernetes-preserve-unknown-fields");
    out->embedded_resource = root || is_embedded(*schema);
    return out;
  }

  std::shared_ptr<DeclType> by_type(const Object& schema, bool root) {
    const std::string_view type = get_string(schema, "type");
    if (type == "array") return list(schema);
    if (type == "object") {
      const Object* values = get_object(schema, "additionalProperties");
      return values != nullptr ? map(schema, *values) : object(schema, root);
    }
    // Built-in kinds declare int-or-string by a format, which has no such meaning in custom resources.
    if (type == "string") return definitions_ && get_string(schema, "format") == "int-or-string" ? int_or_string(schema) : text(schema);
    if (type == "boolean") return made(Form::kBool, 4);
    if (type == "number") return made(Form::kDouble, 1);
    if (type == "integer") return made(Form::kInt, 1);
    return nullptr;
  }

  std::shared_ptr<DeclType> list(const Object& schema) {
    const Object* items = get_object(schema, "items");
    auto of = items == nullptr ? nullptr : declare(*items, is_embedded(*items));
    if (of == nullptr) return nullptr;
    auto out = made(Form::kList, 2, limit_of(schema, "maxItems", (kMostRequest - 2) / (of->min_size + 1)));
    out->items = std::move(of);
    const std::string_view form = get_string(schema, "x-kubernetes-list-type");
    out->list_form = form == "set" ? DeclType::ListForm::kSet : form == "map" ? DeclType::ListForm::kMap : DeclType::ListForm::kAtomic;
    if (const Array* keys = get_array(schema, "x-kubernetes-list-map-keys")) {
      for (const Value& key : *keys) out->map_keys.emplace_back(text_of(key));
    }
    return out;
  }

  std::shared_ptr<DeclType> map(const Object& schema, const Object& values) {
    auto of = declare(values, is_embedded(values));
    if (of == nullptr) return nullptr;
    auto out = made(Form::kMap, 2, limit_of(schema, "maxProperties", (kMostRequest - 2) / (of->min_size + 6)));
    out->items = std::move(of);
    return out;
  }

  std::shared_ptr<DeclType> object(const Object& schema, bool root) {
    auto out = made(Form::kObject, 2);
    const Object* properties = get_object(schema, "properties");
    if (properties != nullptr) {
      for (const auto& [name, property] : *properties) {
        if (property.is_object() && !(root && is_root_member(name))) add(*out, schema, name, property.get_object());
      }
    }
    if (root) add_root_members(*out, schema, properties);
    std::sort(out->fields.begin(), out->fields.end(), [](const DeclField& a, const DeclField& b) { return a.name < b.name; });
    return out;
  }

  static bool is_root_member(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

  static bool is_required(const Object& schema, std::string_view name) {
    const Array* required = get_array(schema, "required");
    return required != nullptr && std::any_of(required->begin(), required->end(), [&](const Value& each) { return text_of(each) == name; });
  }

  void add(DeclType& out, const Object& schema, std::string_view name, const Object& property) {
    add(out, schema, name, declare(property, is_embedded(property)), find(property, "default") != nullptr);
  }
  static void add(DeclType& out, const Object& schema, std::string_view name, TypeRef type, bool has_default) {
    if (type == nullptr) return;
    const bool required = is_required(schema, name);
    if (required && !has_default) out.min_size += static_cast<std::int64_t>(name.size()) + type->min_size + 4;
    std::string written = escape(name);
    if (!written.empty()) out.fields.push_back({std::move(written), std::string(name), std::move(type), required});
  }

  // True if the schema declares kind, apiVersion and metadata, with name and generateName in it.
  static bool has_root_members(const Object* properties) {
    const auto is_of = [](const Object* holder, std::string_view name, std::string_view type) {
      const Object* property = holder == nullptr ? nullptr : get_object(*holder, name);
      return property != nullptr && get_string(*property, "type") == type;
    };
    if (!is_of(properties, "kind", "string") || !is_of(properties, "apiVersion", "string") || !is_of(properties, "metadata", "object"))
      return false;
    const Object* inside = get_object(*get_object(*properties, "metadata"), "properties");
    return is_of(inside, "name", "string") && is_of(inside, "generateName", "string");
  }

  void add_root_members(DeclType& out, const Object& schema, const Object* properties) {
    if (has_root_members(properties)) {
      for (const std::string_view name : {"apiVersion", "kind", "metadata"}) add(out, schema, name, *get_object(*properties, name));
      return;
    }
    const auto string = [] { return made(Form::kString, kNoText, kMostRequest - kNoText); };
    auto metadata = made(Form::kObject, 2);
    for (const char* name : {"generateName", "name"}) metadata->fields.push_back({name, name, string(), false});
    add(out, schema, "apiVersion", string(), false);
    add(out, schema, "kind", string(), false);
    add(out, schema, "metadata", metadata, false);
  }

  const Definitions& definitions_;
  int depth_ = 0;
};

TypeRef simple_type(std::string_view text) {
  struct Simple {
    std::string_view name;
    Form form;
    std::int64_t min_size;
  };
  static constexpr Simple kSimple[] = {{"dyn", Form::kDyn, 1},           {"bool", Form::kBool, 4},          {"int", Form::kInt, 1},
                                       {"double", Form::kDouble, 1},     {"string", Form::kString, 2},      {"bytes", Form::kBytes, 2},
                                       {"duration", Form::kDuration, 3}, {"timestamp", Form::kDateTime, 12}};
  for (const Simple& each : kSimple) {
    if (each.name == text) return made(each.form, each.min_size, kUnknown);
  }
  return nullptr;
}

}  // namespace

TypeRef declare(const Object& schema, bool resource_root, const Definitions& definitions) {
  return Declarer(definitions).declare(schema, resource_root);
}

TypeRef property_of(const TypeRef& type, std::string_view json_name) {
  const DeclField* found = type == nullptr ? nullptr : type->field(escape(json_name));
  return found == nullptr ? nullptr : found->type;
}

TypeRef items_of(const TypeRef& type) { return type == nullptr ? nullptr : type->items; }

TypeRef list_type(TypeRef items) {
  auto out = made(Form::kList, 2, kUnknown);
  out->items = std::move(items);
  return out;
}

TypeRef map_type(TypeRef keys, TypeRef values) {
  auto out = made(Form::kMap, 2, kUnknown);
  out->keys = std::move(keys);
  out->items = std::move(values);
  return out;
}

TypeRef named_type(std::string_view text) {
  if (TypeRef simple = simple_type(text)) return simple;
  if (text.starts_with("list(")) return list_type(named_type(text.substr(5, text.size() - 6)));
  constexpr std::string_view kMap = "map(string, ";
  if (text.starts_with(kMap)) return map_type(nullptr, named_type(text.substr(kMap.size(), text.size() - kMap.size() - 1)));
  auto out = made(Form::kNamed, 1, kUnknown);
  out->name = text;
  return out;
}

TypeRef optional_type(TypeRef type) {
  auto out = made(Form::kOptional, type->min_size, type->max_elements);
  out->items = std::move(type);
  return out;
}

TypeRef object_type(std::string name, std::vector<std::pair<std::string, TypeRef>> fields) {
  auto out = made(Form::kObject, 2, kUnknown);
  out->name = std::move(name);
  for (auto& [json_name, type] : fields) out->fields.push_back({json_name, json_name, std::move(type), false});
  std::sort(out->fields.begin(), out->fields.end(), [](const DeclField& a, const DeclField& b) { return a.name < b.name; });
  return out;
}

TypeRef sized_type(const TypeRef& type, std::int64_t max_elements) {
  auto out = std::make_shared<DeclType>(*type);
  out->max_elements = max_elements;
  return out;
}

std::uint64_t max_cardinality(const DeclType& type) { return static_cast<std::uint64_t>(kMostRequest / (type.min_size + 1)); }

const DeclField* DeclType::field(std::string_view wanted) const noexcept {
  const auto before = [](const DeclField& a, std::string_view b) { return a.name < b; };
  const auto at = std::lower_bound(fields.begin(), fields.end(), wanted, before);
  return at != fields.end() && at->name == wanted ? &*at : nullptr;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
