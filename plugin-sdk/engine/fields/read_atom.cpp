// Makes atoms from the published keywords of definitions, as upstream does from its OpenAPI v3 documents.
//
// Malformed schemas have been refused before; remaining unknown constructs become a type that allows everything.
#include <algorithm>

#include "fields/form.hpp"

namespace backplane::fields {
namespace {

constexpr std::string_view kReferencePrefix = "#/definitions/";
constexpr std::string_view kObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

bool truthy(const Object& object, std::string_view key) noexcept { return get_bool(object, key).value_or(false); }

std::string_view reference_of(const Object& schema) noexcept {
  std::string_view out = get_string(schema, "$ref");
  const Array* all = get_array(schema, "allOf");
  if (out.empty() && all != nullptr && all->size() == 1 && all->front().is_object()) out = get_string(all->front().get_object(), "$ref");
  return out.starts_with(kReferencePrefix) ? out.substr(kReferencePrefix.size()) : std::string_view();
}

Relation relation_of(const Object& schema) noexcept {
  const std::string_view word = get_string(schema, "x-kubernetes-map-type");
  return word == "atomic" ? Relation::kAtomic : word == "granular" ? Relation::kGranular : Relation::kUnset;
}

Scalar scalar_of(std::string_view type, std::string_view format) noexcept {
  if (type == "integer" || type == "number") return Scalar::kNumeric;
  if (type == "boolean") return Scalar::kBoolean;
  return type == "string" && (format.empty() || format == "byte") ? Scalar::kString : Scalar::kUntyped;
}

class Reader {
 public:
  // `owner` owns inlined types; its set is locked.
  Reader(const schema::Type& type, const schema::Type& owner) : type_(type), owner_(owner) {}

  std::unique_ptr<Atom> definition() {
    // Two types whose schemas are less specific than the types.
    if (type_.form() == schema::Form::kQuantity) return scalar(Scalar::kUntyped);
    const Value tree = parse(type_);
    if (type_.form() == schema::Form::kRawExtension || !tree.is_object()) return copy_of_untyped();
    return atom(tree.get_object(), true);
  }

 private:
  static Value parse(const schema::Type& type) {
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    boost::system::error_code error;
    const SharedBytes text = type.text();
    Value out = json::parse(text.view(), error, {}, options);
    return error ? Value() : out;
  }

  static std::unique_ptr<Atom> scalar(Scalar kind) {
    auto out = std::make_unique<Atom>();
    out->scalar = kind;
    return out;
  }

  static const Atom& shared_scalar(Scalar kind) {
    static const std::unique_ptr<const Atom> atoms[] = {scalar(Scalar::kNone), scalar(Scalar::kUntyped), scalar(Scalar::kNumeric),
                                                        scalar(Scalar::kString), scalar(Scalar::kBoolean)};
    return *atoms[static_cast<std::size_t>(kind)];
  }

  static std::unique_ptr<Atom> copy_of_untyped() {
    auto out = scalar(Scalar::kUntyped);
    auto list = std::make_unique<ListForm>();
    auto map = std::make_unique<MapForm>();
    list->items.atom = map->elements.atom = &untyped_atom();
    map->atomic = true;
    out->list = std::move(list);
    out->map = std::move(map);
    return out;
  }

  // `root`: the schema is the whole definition.
  std::unique_ptr<Atom> atom(const Object& schema, bool root) {
    // Types below inherit the two keywords within one definition.
    const bool before = preserve_;
    preserve_ = preserve_ || truthy(schema, "x-kubernetes-preserve-unknown-fields") || truthy(schema, "x-custom-keeps-unknown-fields");
    const std::string_view kind = get_string(schema, "type");
    auto out = std::make_unique<Atom>();
    if (kind == "array" || kind.empty()) out->list = list(schema);
    if (kind == "object" || kind.empty()) out->map = map(schema, root);
    if (kind != "array" && kind != "object") out->scalar = scalar_of(kind, get_string(schema, "format"));
    preserve_ = before;
    return out;
  }

  TypeRef reference(const Object& schema) {
    TypeRef out;
    const std::string_view name = reference_of(schema);
    if (!name.empty()) {
      out.named = type_.set().find_type(name);
      out.relation = relation_of(schema);
      if (out.named == nullptr) out.atom = &deduced_atom();
      return out;
    }
    const std::string_view kind = get_string(schema, "type");
    const bool composed = kind.empty() || kind == "array" || kind == "object";
    out.atom = composed ? owner_.keep(atom(schema, false)) : &shared_scalar(scalar_of(kind, get_string(schema, "format")));
    return out;
  }

  TypeRef reference(const Value& schema) {
    TypeRef deduced;
    deduced.atom = &deduced_atom();
    return schema.is_object() ? reference(schema.get_object()) : deduced;
  }

  std::unique_ptr<ListForm> list(const Object& schema) {
    auto out = std::make_unique<ListForm>();
    read_list_keywords(schema, *out);
    const Value* items = find(schema, "items");
    if (items != nullptr)
      out->items = reference(*items);
    else
      out->items.atom = &untyped_atom();
    return out;
  }

  static void read_list_keywords(const Object& schema, ListForm& out) {
    const std::string_view word = get_string(schema, "x-kubernetes-list-type");
    if (!word.empty()) {
      out.atomic = word != "set" && word != "map";
      const Array* keys = word == "map" ? get_array(schema, "x-kubernetes-list-map-keys") : nullptr;
      if (keys == nullptr) return;
      for (const Value& key : *keys) {
        if (key.is_string()) out.keys.emplace_back(std::string_view(key.get_string()));
      }
      return;
    }
    const std::string_view strategy = get_string(schema, "x-kubernetes-patch-strategy");
    if (strategy != "merge" && strategy != "merge,retainKeys") return;
    out.atomic = false;
    const std::string_view key = get_string(schema, "x-kubernetes-patch-merge-key");
    if (!key.empty()) out.keys.emplace_back(key);
  }

  std::unique_ptr<MapForm> map(const Object& schema, bool root) {
    auto out = std::make_unique<MapForm>();
    const Object* properties = get_object(schema, "properties");
    if (properties != nullptr) add_fields(*properties, *out);
    if (type_.structural() && (root || truthy(schema, "x-kubernetes-embedded-resource"))) add_resource_fields(*out);
    out->index.reserve(out->fields.size());
    for (std::size_t i = 0; i < out->fields.size(); ++i) out->index.emplace(out->fields[i].name, i);
    out->atomic = relation_of(schema) == Relation::kAtomic;
    out->elements = elements(schema, out->fields.empty());
    const Atom* inner = out->elements.atom;
    out->deduced = out->fields.empty() && inner != nullptr && inner != &untyped_atom() && inner->scalar == Scalar::kUntyped;
    return out;
  }

  void add_fields(const Object& properties, MapForm& out) {
    for (const auto& [name, schema] : properties) {
      if (!schema.is_object()) continue;
      if (!truthy(schema.get_object(), "x-backplane-inline")) {
        add_field(name, reference(schema), find(schema.get_object(), "default"), out);
        continue;
      }
      // The members of an embedded struct are inlined here.
      const schema::Type* inlined = type_.set().find_type(reference_of(schema.get_object()));
      if (inlined == nullptr) continue;
      const Value tree = parse(*inlined);
      const Object* more = tree.is_object() ? get_object(tree.get_object(), "properties") : nullptr;
      if (more != nullptr) Reader(*inlined, owner_).add_fields(*more, out);
    }
  }

  static void add_field(std::string_view name, TypeRef type, const Value* default_value, MapForm& out) {
    MapForm::Field& field = out.fields.emplace_back();
    field.name = name;
    field.type = type;
    if (default_value != nullptr && !default_value->is_null()) field.default_value.emplace(*default_value, json::storage_ptr());
  }

  // The members that every resource has, regardless of a custom schema.
  void add_resource_fields(MapForm& out) {
    TypeRef words;
    words.atom = &shared_scalar(Scalar::kString);
    TypeRef metadata;
    metadata.named = static_cast<const schema::Type*>(meta_schemas()->find(kObjectMeta));
    set_field("apiVersion", words, out);
    set_field("kind", words, out);
    set_field("metadata", metadata, out);
  }

  static void set_field(std::string_view name, const TypeRef& type, MapForm& out) {
    const auto known = std::find_if(out.fields.begin(), out.fields.end(), [&](const MapForm::Field& field) { return field.name == name; });
    if (known == out.fields.end())
      add_field(name, type, nullptr, out);
    else
      known->type = type;
  }

  TypeRef elements(const Object& schema, bool no_fields) {
    TypeRef out;
    const Value* additional = find(schema, "additionalProperties");
    if (additional != nullptr && additional->is_object()) return reference(additional->get_object());
    const bool free = additional == nullptr ? preserve_ || no_fields : additional->is_bool() && additional->get_bool();
    if (free) out.atom = &deduced_atom();
    return out;
  }

  const schema::Type& type_;
  const schema::Type& owner_;
  bool preserve_ = false;
};

}  // namespace

std::unique_ptr<const Atom> read_atom(const schema::Type& type) { return Reader(type, type).definition(); }

}  // namespace backplane::fields
