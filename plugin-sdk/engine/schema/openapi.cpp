// Schema documents as OpenAPI v3 components.
#include "schema/custom.hpp"
#include "schema/type.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::string_view kReferencePrefix = "#/definitions/";
constexpr std::string_view kComponentPrefix = "#/components/schemas/";
constexpr std::string_view kInternalPrefix = "x-backplane-";

class Publisher {
 public:
  Publisher(Object& components, const GroupVersion* document) : components_(components), document_(document) {}

  void add(const SchemaSet::State& set, std::string_view name) {
    std::vector<std::pair<const SchemaSet::State*, std::string>> pending{{&set, std::string(name)}};
    while (!pending.empty()) {
      auto [from, next] = std::move(pending.back());
      pending.pop_back();
      if (components_.contains(next)) continue;
      const schema::Type* type = from->find_type(next);
      if (!type) continue;
      set_ = &type->set();
      references_.clear();
      components_.emplace(next, published(*type));
      for (std::string& reference : references_) pending.emplace_back(set_, std::move(reference));
    }
  }

 private:
  static Object source_of(const schema::Type& type) {
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    boost::system::error_code error;
    const SharedBytes text = type.text();
    Value tree = json::parse(text.view(), error, {}, options);
    if (error || !tree.is_object()) return Object();
    if (type.set().source) schema::show_resource_members(tree.get_object(), type.set());
    return std::move(tree.get_object());
  }

  Object published(const schema::Type& type) {
    Object source = source_of(type);
    Object out;
    for (const auto& member : source) {
      // Inlined definitions are not components: their properties are flattened below.
      if (std::string_view(member.key()) == "properties")
        out.emplace("properties", nullptr);
      else
        copy_member(member.key(), member.value(), out);
    }
    if (const Object* properties = get_object(source, "properties")) {
      Object flat;
      Array required = get_array(source, "required") ? *get_array(source, "required") : Array();
      flatten(type, *properties, flat, required);
      out["properties"] = std::move(flat);
      if (!required.empty()) out["required"] = std::move(required);
    }
    const Value* every = find(source, "x-backplane-every-group");
    if (every && document_ && !document_->group.empty()) add_document_kind(out);
    return out;
  }

  void flatten(const schema::Type& type, const Object& properties, Object& flat, Array& required) {
    for (const auto& [name, schema] : properties) {
      if (!schema.is_object()) continue;
      if (!get_bool(schema.get_object(), "x-backplane-inline").value_or(false)) {
        flat.emplace(name, copy(schema.get_object()));
        continue;
      }
      const schema::Type* target = type.set().find_type(reference_of(schema.get_object()));
      if (!target) continue;
      const Object inlined = source_of(*target);
      if (const Array* more = get_array(inlined, "required")) required.insert(required.end(), more->begin(), more->end());
      if (const Object* inner = get_object(inlined, "properties")) flatten(*target, *inner, flat, required);
    }
  }

  static std::string_view reference_of(const Object& schema) noexcept {
    std::string_view reference = get_string(schema, "$ref");
    const Array* all = get_array(schema, "allOf");
    if (reference.empty() && all && !all->empty() && all->front().is_object()) reference = get_string(all->front().get_object(), "$ref");
    return reference.starts_with(kReferencePrefix) ? reference.substr(kReferencePrefix.size()) : std::string_view();
  }

  Value copy_value(const Value& value) {
    if (value.is_object()) return copy(value.get_object());
    if (!value.is_array()) return value;
    Array out;
    out.reserve(value.get_array().size());
    for (const Value& item : value.get_array()) out.push_back(copy_value(item));
    return out;
  }
  Object copy(const Object& source) {
    Object out;
    for (const auto& member : source) copy_member(member.key(), member.value(), out);
    return out;
  }
  void copy_member(std::string_view name, const Value& value, Object& out) {
    if (name.starts_with(kInternalPrefix)) return;
    const std::string_view reference = name == "$ref" && value.is_string() ? std::string_view(value.get_string()) : std::string_view();
    if (!reference.starts_with(kReferencePrefix)) {
      out.emplace(name, copy_value(value));
      return;
    }
    const std::string target(reference.substr(kReferencePrefix.size()));
    out.emplace(name, std::string(kComponentPrefix) + target);
    references_.push_back(target);
  }

  void add_document_kind(Object& out) const {
    Array& kinds = ensure_array(out, "x-kubernetes-group-version-kind");
    if (kinds.empty() || !kinds.front().is_object()) return;
    Object row{{"group", document_->group}, {"kind", get_string(kinds.front().get_object(), "kind")}, {"version", document_->version}};
    kinds.push_back(std::move(row));
  }

  Object& components_;
  const GroupVersion* document_;
  const SchemaSet::State* set_ = nullptr;
  std::vector<std::string> references_;
};

}  // namespace

void SchemaSet::openapi_components(std::string_view definition, Object& components, const GroupVersion* document) const {
  Publisher(components, document).add(*state_, definition);
}

}  // namespace BACKPLANE_API
