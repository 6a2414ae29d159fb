#include "typing/populated_schema.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"

namespace backplane::admissionregistration {
namespace {

constexpr std::string_view kRefPrefix = "#/components/schemas/";
// Keywords that are not copied: they do not concern types, or Populator::copy() writes them separately.
constexpr std::string_view kLeftOut[] = {"description", "default", "example", "properties", "items", "additionalProperties", "allOf"};

// The name of the schema that $ref refers to, in `schema` or in a part of its allOf; empty if there is no $ref.
std::string_view reference_of(const Object& schema) {
  std::string_view ref = get_string(schema, "$ref");
  each(schema, "allOf", [&](const Object& part, std::size_t) {
    if (ref.empty()) ref = reference_of(part);
  });
  return ref.starts_with(kRefPrefix) ? ref.substr(kRefPrefix.size()) : ref;
}

class Populator {
 public:
  explicit Populator(const Object& schemas) : schemas_(schemas) {}

  bool complete() const noexcept { return complete_; }

  Object populate(const Object& schema) {
    const std::string_view name = reference_of(schema);
    return name.empty() ? copy(schema) : referenced(name);
  }

  Object referenced(std::string_view name) {
    const Object* target = get_object(schemas_, name);
    complete_ = complete_ && target != nullptr;
    if (target == nullptr || std::find(within_.begin(), within_.end(), name) != within_.end()) return Object{{"type", "object"}};
    within_.push_back(name);
    Object out = copy(*target);
    within_.pop_back();
    return out;
  }

 private:
  Object copy(const Object& schema) {
    Object out;
    for (const auto& [key, value] : schema) {
      if (std::find(std::begin(kLeftOut), std::end(kLeftOut), std::string_view(key)) == std::end(kLeftOut)) out.emplace(key, value);
    }
    // Built-in kinds declare by the format what custom resources declare by this keyword; upstream accepts both.
    if (get_string(schema, "format") == "int-or-string") out["x-kubernetes-int-or-string"] = true;
    if (const Object* properties = get_object(schema, "properties")) {
      Object& kept = out["properties"].emplace_object();
      for (const auto& [name, property] : *properties) {
        if (property.is_object()) kept.emplace(name, populate(property.get_object()));
      }
    }
    for (const char* word : {"items", "additionalProperties"}) {
      if (const Object* inner = get_object(schema, word)) out.emplace(word, populate(*inner));
    }
    return out;
  }

  const Object& schemas_;
  std::vector<std::string_view> within_;
  bool complete_ = true;
};

}  // namespace

std::optional<Object> populated_schema(const Object& schemas, std::string_view root) {
  Populator populator(schemas);
  Object out = populator.referenced(root);
  if (!populator.complete()) return std::nullopt;
  return out;
}

}  // namespace backplane::admissionregistration
