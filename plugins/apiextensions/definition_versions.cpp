#include "definition_versions.hpp"

#include <algorithm>
#include <array>

namespace backplane::apiextensions {
namespace {

// Members that a v1beta1 spec has once for all versions, if they are equal in each version.
struct Common {
  std::string_view of_version;
  std::string_view of_spec;
};
constexpr std::array<Common, 4> kCommon = {{{"schema", "validation"},
                                            {"subresources", "subresources"},
                                            {"additionalPrinterColumns", "additionalPrinterColumns"},
                                            {"selectableFields", "selectableFields"}}};
// The members of a v1beta1 spec, in their order.
constexpr std::array<std::string_view, 11> kOrder = {"group",
                                                     "version",
                                                     "names",
                                                     "scope",
                                                     "validation",
                                                     "subresources",
                                                     "versions",
                                                     "additionalPrinterColumns",
                                                     "selectableFields",
                                                     "conversion",
                                                     "preserveUnknownFields"};

bool same(const Value* a, const Value* b) { return a == nullptr || b == nullptr ? a == b : *a == *b; }

void rename(Object& object, std::string_view from, std::string_view to) {
  Value* value = find(object, from);
  if (value == nullptr) return;
  Value moved = std::move(*value);
  erase_member(object, from);
  object[to] = std::move(moved);
}

void rename_in_columns(Object& holder, std::string_view from, std::string_view to) {
  Value* columns = find(holder, "additionalPrinterColumns");
  if (columns == nullptr || !columns->is_array()) return;
  for (Value& column : columns->get_array()) {
    if (column.is_object()) rename(column.get_object(), from, to);
  }
}

// The items of spec.versions, which is normalized.
std::vector<Object*> versions_in(Object& spec) {
  std::vector<Object*> out;
  Value* versions = find(spec, "versions");
  if (versions == nullptr || !versions->is_array()) return out;
  for (Value& version : versions->get_array()) {
    if (version.is_object()) out.push_back(&version.get_object());
  }
  return out;
}

void hoist(Object& spec, const std::vector<Object*>& versions, const Common& member) {
  const Value* first = find(*versions.front(), member.of_version);
  if (first == nullptr) return;
  const auto has_it = [&](const Object* version) { return same(find(*version, member.of_version), first); };
  if (!std::all_of(versions.begin(), versions.end(), has_it)) return;
  spec[member.of_spec] = *first;
  for (Object* version : versions) erase_member(*version, member.of_version);
}

void lower(Object& spec, const std::vector<Object*>& versions, const Common& member) {
  const Value* common = find(spec, member.of_spec);
  if (common == nullptr) return;
  for (Object* version : versions) (*version)[member.of_version] = *common;
  erase_member(spec, member.of_spec);
}

void conversion_to_written(Object& conversion) {
  const Value* webhook = find(conversion, "webhook");
  if (webhook == nullptr || !webhook->is_object()) return;
  const Object members = webhook->get_object();
  erase_member(conversion, "webhook");
  if (const Value* config = find(members, "clientConfig")) conversion["webhookClientConfig"] = *config;
  if (const Value* reviews = find(members, "conversionReviewVersions")) conversion["conversionReviewVersions"] = *reviews;
}

void conversion_to_served(Object& conversion) {
  Object webhook;
  if (const Value* config = find(conversion, "webhookClientConfig")) webhook["clientConfig"] = *config;
  if (const Value* reviews = find(conversion, "conversionReviewVersions")) webhook["conversionReviewVersions"] = *reviews;
  erase_member(conversion, "webhookClientConfig");
  erase_member(conversion, "conversionReviewVersions");
  if (!webhook.empty()) conversion["webhook"] = std::move(webhook);
}

Object in_order(const Object& spec) {
  Object out(spec.storage());
  for (const std::string_view name : kOrder) {
    if (const Value* value = find(spec, name)) out[name] = *value;
  }
  return out;
}

Status to_written(Object& definition) {
  Object& spec = ensure_object(definition, "spec");
  if (Value* conversion = find(spec, "conversion"); conversion != nullptr && conversion->is_object())
    conversion_to_written(conversion->get_object());
  if (find(spec, "preserveUnknownFields") == nullptr) spec["preserveUnknownFields"] = false;
  const std::vector<Object*> versions = versions_in(spec);
  for (Object* version : versions) rename_in_columns(*version, "jsonPath", "JSONPath");
  if (!versions.empty()) {
    spec["version"] = get_string(*versions.front(), "name");
    for (const Common& member : kCommon) hoist(spec, versions, member);
  }
  definition["spec"] = in_order(spec);
  return {};
}

// Defaults of a v1beta1 spec that differ from v1.
void apply_written_defaults(Object& spec) {
  if (get_string(spec, "scope").empty()) spec["scope"] = "Namespaced";
  if (find(spec, "preserveUnknownFields") == nullptr) spec["preserveUnknownFields"] = true;
  Value* conversion = find(spec, "conversion");
  if (conversion == nullptr || !conversion->is_object()) return;
  Object& settings = conversion->get_object();
  if (get_string(settings, "strategy") == "Webhook" && texts(settings, "conversionReviewVersions").empty())
    settings["conversionReviewVersions"] = Array({json::value("v1beta1")}, spec.storage());
}

Status to_served(Object& definition) {
  Object& spec = ensure_object(definition, "spec");
  apply_written_defaults(spec);
  if (Value* conversion = find(spec, "conversion"); conversion != nullptr && conversion->is_object())
    conversion_to_served(conversion->get_object());
  const std::string version(get_string(spec, "version"));
  if (versions_in(spec).empty() && !version.empty()) {
    Object only(spec.storage());
    only["name"] = version;
    only["served"] = true;
    only["storage"] = true;
    spec["versions"] = Array({std::move(only)}, spec.storage());
  }
  erase_member(spec, "version");
  const std::vector<Object*> versions = versions_in(spec);
  for (const Common& member : kCommon) lower(spec, versions, member);
  for (Object* each : versions) rename_in_columns(*each, "JSONPath", "jsonPath");
  return {};
}

}  // namespace

Status add_definition_conversions(Scheme& scheme) {
  const GroupVersionKind served = {std::string(kGroup), "v1", "CustomResourceDefinition"};
  Status added = scheme.add_conversion(served, written_definition(), to_written);
  return added.ok() ? scheme.add_conversion(written_definition(), served, to_served) : added;
}

}  // namespace backplane::apiextensions
