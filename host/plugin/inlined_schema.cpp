#include "plugin/inlined_schema.hpp"

#include <algorithm>
#include <vector>

#include "backplane/core/json_access.hpp"

namespace backplane {
namespace {

constexpr std::string_view kComponents = "#/components/schemas/";
constexpr std::size_t kDeepest = 64;            // nested references
constexpr std::size_t kMostTypes = 4'000;       // inserted types of one schema
constexpr std::size_t kMostBytes = 128 * 1024;  // size of the schema's text

Object any_object() { return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}; }

class Inliner {
 public:
  explicit Inliner(const Object& components) : components_(components) {}

  Value of(const Value& value) {
    if (value.is_array()) {
      Array out;
      for (const Value& item : value.get_array()) out.push_back(of(item));
      return out;
    }
    return value.is_object() ? Value(of(value.get_object())) : value;
  }

  Object of(const Object& schema) {
    const std::string_view name = reference_of(schema);
    Object out = name.empty() ? Object() : type(name);
    for (const auto& [key, value] : schema) {
      if (!name.empty() && (key == "$ref" || key == "allOf")) continue;
      out.insert_or_assign(key, of(value));
    }
    return out;
  }

  Object type(std::string_view name) {
    const Object* found = get_object(components_, name);
    const bool again = std::find(path_.begin(), path_.end(), name) != path_.end();
    if (found == nullptr || again || path_.size() >= kDeepest || ++types_ > kMostTypes) return any_object();
    path_.emplace_back(name);
    Object out = of(*found);
    path_.pop_back();
    out.erase("x-kubernetes-group-version-kind");
    return out;
  }

 private:
  static std::string_view reference_of(const Object& schema) {
    std::string_view reference = get_string(schema, "$ref");
    const Array* all = get_array(schema, "allOf");
    if (reference.empty() && all != nullptr && all->size() == 1 && all->front().is_object()) {
      reference = get_string(all->front().get_object(), "$ref");
    }
    return reference.starts_with(kComponents) ? reference.substr(kComponents.size()) : std::string_view();
  }

  const Object& components_;
  std::vector<std::string> path_;
  std::size_t types_ = 0;
};

}  // namespace

std::string inlined_schema(const SchemaSet& schemas, const std::string& definition, const GroupVersion& version) {
  Object components;
  schemas.openapi_components(definition, components, &version);
  // The members that every resource has are added to the schema where it is used.
  if (Object* type = components.contains(definition) ? components.at(definition).if_object() : nullptr) {
    if (Value* properties = type->if_contains("properties"); properties != nullptr && properties->is_object()) {
      for (const std::string_view member : {"apiVersion", "kind", "metadata"}) properties->get_object().erase(member);
    }
    if (Value* required = type->if_contains("required"); required != nullptr && required->is_array()) type->erase("required");
  }
  Object schema = Inliner(components).type(definition);
  schema["x-kubernetes-preserve-unknown-fields"] = true;
  std::string text = to_json(schema);
  return text.size() <= kMostBytes ? text : to_json(any_object());
}

}  // namespace backplane
