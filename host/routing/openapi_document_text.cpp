// DocumentText writes the text of a document member by member.
#include <utility>

#include "engine/codec.hpp"
#include "routing/openapi.hpp"

namespace backplane {

void DocumentText::begin_member(std::string_view name) {
  if (out_.back() != '{') out_ += ',';
  append_json_string(out_, name);
  out_ += ':';
}

void DocumentText::member(std::string_view name, const Value& value) {
  begin_member(name);
  append_json(out_, value);
}

void DocumentText::open(std::string_view name) {
  if (!name.empty()) begin_member(name);
  out_ += '{';
}

namespace {

// Removes "enum" from a schema and from the schemas of its properties, list items and map values. A property may have the name "enum"; it
// is not removed.
void drop_enums(Value& schema) {
  if (!schema.is_object()) return;
  Object& object = schema.get_object();
  object.erase("enum");
  if (auto* properties = object.if_contains("properties"); properties != nullptr && properties->is_object()) {
    for (auto& property : properties->get_object()) drop_enums(property.value());
  }
  for (const char* held : {"items", "additionalProperties"}) {
    if (auto* inner = object.if_contains(held)) drop_enums(*inner);
  }
}

bool is_built_in(const SchemaSet* schemas, const std::string& name) {
  const Schema* schema = schemas == nullptr ? nullptr : schemas->find(std::string_view(name));
  return schema == nullptr || !schema->structural();
}

}  // namespace

void DocumentText::title(std::string_view form, std::string_view version, const ApiRelease& release) {
  member(form, json::value(version));
  member("info", Object{{"title", "Kubernetes"}, {"version", release.to_string()}});
}

Object DocumentText::bearer_token() { return Object{{"BearerToken", {{"type", "apiKey"}, {"name", "authorization"}, {"in", "header"}}}}; }

void DocumentText::definitions(const UsedDefinitions& used, const Adapt& adapt) {
  for (const auto& [name, schemas] : used) {
    const bool own = schemas != nullptr && schemas->find(std::string_view(name)) != nullptr;
    const bool with_enums = enums_ || !is_built_in(schemas, name);
    const std::size_t before = written_.size();
    (own ? *schemas : *meta_schemas()).openapi_components(name, written_, document_);
    for (auto added = written_.begin() + static_cast<std::ptrdiff_t>(before); added != written_.end(); ++added) {
      Value definition = std::exchange(added->value(), nullptr);
      if (!with_enums) drop_enums(definition);
      if (adapt != nullptr) adapt(added->key(), definition, own && added->key() == name && !is_built_in(schemas, name));
      member(added->key(), definition);
    }
  }
}

void DocumentText::definition(std::string_view name, const Value& schema) {
  if (written_.emplace(name, nullptr).second) member(name, schema);
}

void DocumentText::foreign_definitions(const Object& schemas, const Adapt& adapt) {
  for (const auto& each : schemas) {
    if (!each.value().is_object() || written_.contains(each.key())) continue;
    written_[each.key()] = nullptr;
    Value definition = each.value();
    if (adapt != nullptr) adapt(each.key(), definition, false);
    member(each.key(), definition);
  }
}

}  // namespace backplane
