#include <algorithm>
#include <optional>

#include "backplane/types/json_reading.hpp"
#include "routing/known_versions.hpp"
#include "routing/openapi_custom.hpp"
#include "routing/openapi_v2_merge.hpp"

namespace backplane {
namespace {

Object reference(std::string_view definition) {
  Object out;
  out["$ref"] = "#/definitions/" + std::string(definition);
  return out;
}

Array words(std::initializer_list<std::string_view> list) {
  Array out;
  for (auto word : list) out.emplace_back(word);
  return out;
}

Object parameter_object(const OpenApiParameter& parameter) {
  Object out{{"uniqueItems", true}, {"type", parameter.type()}, {"name", parameter.name}, {"in", parameter.in()}};
  if (parameter.in_path) out["required"] = true;
  return out;
}

Object body_parameter(const OpenApiOperation& operation) {
  Object out;
  out["name"] = "body";
  out["in"] = "body";
  if (operation.body_required) out["required"] = true;
  out["schema"] = reference(operation.body == "Patch" ? "io.k8s.apimachinery.pkg.apis.meta.v1.Patch" : operation.body);
  return out;
}

// Upstream's names of shared parameters. A name ends in a hash of upstream's definition. Clients refer to these names.
struct SharedName {
  std::string_view name, shared;
};
// Upstream's names of shared parameters that are members of options. The same parameter has different names for different kinds.
struct SharedOption {
  std::string_view kind, name, shared;
};
constexpr SharedOption kSharedOptions[] = {
    {"NodeProxyOptions", "path", "path-rFDtV0x9"},
    {"Pod", "container", "container-1GeXxFDC"},
    {"Pod", "follow", "follow-9OIXh_2R"},
    {"Pod", "insecureSkipTLSVerifyBackend", "insecureSkipTLSVerifyBackend-gM00jVbe"},
    {"Pod", "limitBytes", "limitBytes-zwd1RXuc"},
    {"Pod", "previous", "previous-1jxDPu3y"},
    {"Pod", "sinceSeconds", "sinceSeconds-vE2NLdnP"},
    {"Pod", "stream", "stream-l-48cgXv"},
    {"Pod", "tailLines", "tailLines-9xQLWHMV"},
    {"Pod", "timestamps", "timestamps-c17fW1w_"},
    {"PodAttachOptions", "container", "container-_Q-EJ3nR"},
    {"PodAttachOptions", "stderr", "stderr-26jJhFUR"},
    {"PodAttachOptions", "stdin", "stdin-sEFnN3IS"},
    {"PodAttachOptions", "stdout", "stdout-005YMKE6"},
    {"PodAttachOptions", "tty", "tty-g7MlET_l"},
    {"PodExecOptions", "command", "command-Py3eQybp"},
    {"PodExecOptions", "container", "container-i5dOmRiM"},
    {"PodExecOptions", "stderr", "stderr-W_1TNlWc"},
    {"PodExecOptions", "stdin", "stdin-PSzNhyUC"},
    {"PodExecOptions", "stdout", "stdout--EZLRwV1"},
    {"PodExecOptions", "tty", "tty-s0flW37O"},
    {"PodPortForwardOptions", "ports", "ports-91KROJmm"},
    {"PodProxyOptions", "path", "path-oPbzgLUj"},
    {"ServiceProxyOptions", "path", "path-QCf0eosM"},
};
constexpr SharedName kSharedNames[] = {
    {"allowWatchBookmarks", "allowWatchBookmarks-HC2hJt-J"},
    {"continue", "continue-QfD61s0i"},
    {"fieldManager", "fieldManager-Qy4HdaTW"},
    {"fieldSelector", "fieldSelector-xIcQKXFG"},
    {"force", "force-tOGGb0Yi"},
    {"gracePeriodSeconds", "gracePeriodSeconds--K5HaBOS"},
    {"ignoreStoreReadErrorWithClusterBreakingPotential", "ignoreStoreReadErrorWithClusterBreakingPotential-QbNkfIqj"},
    {"labelSelector", "labelSelector-5Zw57w4C"},
    {"limit", "limit-1NfNmdNH"},
    {"namespace", "namespace-vgWSWtn3"},
    {"orphanDependents", "orphanDependents-uRB25kX5"},
    {"pretty", "pretty-tJGM1-ng"},
    {"propagationPolicy", "propagationPolicy-6jk3prlO"},
    {"resourceVersion", "resourceVersion-5WAnf1kx"},
    {"resourceVersionMatch", "resourceVersionMatch-t8XhRHeC"},
    {"sendInitialEvents", "sendInitialEvents-rLXlEK_k"},
    {"shardSelector", "shardSelector-Kgyki_3_"},
    {"timeoutSeconds", "timeoutSeconds-yvYezaOC"},
    {"watch", "watch-XNNPZGbK"},
};

std::string_view shared_name(const OpenApiParameter& parameter) {
  if (parameter.name == "fieldManager" && parameter.of_patch) return "fieldManager-7c6nTn1T";
  if (!parameter.declared_by.empty()) {
    for (const SharedOption& row : kSharedOptions) {
      if (row.kind == parameter.declared_by && row.name == parameter.name) return row.shared;
    }
    return {};
  }
  if (parameter.name == "path" && parameter.in_path) return "path-z6Ciiujn";
  for (const SharedName& row : kSharedNames) {
    if (row.name == parameter.name) return row.shared;
  }
  return {};
}
std::string_view shared_body(const OpenApiOperation& operation) {
  if (operation.body == "Patch") return "body-78PwaGsr";
  return operation.body.ends_with(".meta.v1.DeleteOptions") ? "body-2Y1dVQaQ" : std::string_view();
}

// Converts the parameters of operations, and collects the shared parameters among them.
class Parameters {
 public:
  Array of(std::span<const OpenApiParameter> parameters) {
    Array out;
    for (const OpenApiParameter& each : parameters) out.emplace_back(put(shared_name(each), parameter_object(each)));
    return out;
  }
  Value body(const OpenApiOperation& operation) { return put(shared_body(operation), body_parameter(operation)); }
  Object shared() const {
    Object out;
    for (const auto& [name, parameter] : shared_) out[name] = parameter;
    return out;
  }

 private:
  Value put(std::string_view shared, Object parameter) {
    if (shared.empty()) return parameter;
    shared_.emplace(shared, std::move(parameter));
    return Object{{"$ref", "#/parameters/" + std::string(shared)}};
  }
  std::map<std::string, Object> shared_;
};

Array produces(const OpenApiOperation& operation) {
  if (!operation.text_types.empty()) return Array(operation.text_types.begin(), operation.text_types.end());
  const bool cbor = operation.cbor;
  Array out = words({"application/json", "application/yaml"});
  if (!operation.custom) out.emplace_back("application/vnd.kubernetes.protobuf");
  if (cbor) out.emplace_back("application/cbor");
  if (operation.streams) {
    out.emplace_back("application/json;stream=watch");
    out.emplace_back("application/vnd.kubernetes.protobuf;stream=watch");
    if (cbor) out.emplace_back("application/cbor-seq");
  }
  return out;
}

Array consumes(const OpenApiOperation& operation) {
  if (operation.body != "Patch") return operation.custom ? words({"application/json", "application/yaml"}) : words({"*/*"});
  Array out = words({"application/json-patch+json", "application/merge-patch+json"});
  if (!operation.custom) out.emplace_back("application/strategic-merge-patch+json");
  out.emplace_back("application/apply-patch+yaml");
  if (operation.cbor) out.emplace_back("application/apply-patch+cbor");
  return out;
}

Object responses(const OpenApiOperation& operation) {
  Object out;
  for (int code : operation.codes) {
    Object response;
    response["description"] = code == 200 ? "OK" : code == 201 ? "Created" : "Accepted";
    if (!operation.result.empty()) response["schema"] = reference(operation.result);
    if (!operation.text_types.empty()) response["schema"] = Object{{"type", "string"}};
    out[std::to_string(code)] = std::move(response);
  }
  out["401"] = Object{{"description", "Unauthorized"}};
  return out;
}

Object operation_object(const OpenApiOperation& operation, std::span<const OpenApiOperation> operations, const std::string& tag,
                        Parameters& shared) {
  Object out;
  out["description"] = openapi_description(operation);
  out["consumes"] = consumes(operation);
  out["produces"] = produces(operation);
  out["schemes"] = words({"https"});
  out["tags"] = Array{json::value(tag)};
  out["operationId"] = operation.id;
  Array parameters;
  if (!operation.body.empty()) parameters.push_back(shared.body(operation));
  for (Value& own : shared.of(openapi_own_parameters(operation, operations))) parameters.push_back(std::move(own));
  if (!parameters.empty()) out["parameters"] = std::move(parameters);
  out["responses"] = responses(operation);
  out["x-kubernetes-action"] = operation.action;
  const GroupVersionKind& kind = *operation.kind;
  out["x-kubernetes-group-version-kind"] = Object{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}};
  return out;
}

Object page_object(const OpenApiPage& page) {
  Array types(page.types.begin(), page.types.end());
  Object get;
  get["description"] = openapi_description(page);
  if (page.negotiated) get["consumes"] = types;
  get["produces"] = std::move(types);
  get["schemes"] = words({"https"});
  get["tags"] = words({page.tag});
  get["operationId"] = page.id;
  Object answer{{"description", "OK"}, {"schema", page.definition.empty() ? Object{{"type", "string"}} : reference(page.definition)}};
  get["responses"] = Object{{"200", std::move(answer)}, {"401", {{"description", "Unauthorized"}}}};
  return Object{{"get", std::move(get)}};
}

// Swagger 2.0 has one definitions object. It has neither alternatives nor nullable, and allows no reference that is wrapped in allOf. A
// wrapped reference therefore becomes a plain reference, alternatives of scalars become the type string, and the other keywords, including
// defaults, are removed.
void to_v2(Value& node) {
  if (!node.is_object()) return;
  Object& object = node.get_object();
  const bool alternatives = object.contains("oneOf") && !object.contains("type");
  for (const char* word : {"nullable", "oneOf", "anyOf", "default"}) object.erase(word);
  if (alternatives) object["type"] = "string";
  if (auto* all = object.if_contains("allOf"); all && all->is_array() && all->get_array().size() == 1 && all->get_array()[0].is_object()) {
    Object inner = all->get_array()[0].get_object();
    object.erase("allOf");
    for (auto& member : inner) object[member.key()] = member.value();
  }
  if (auto* ref = object.if_contains("$ref"); ref && ref->is_string()) {
    std::string text(ref->get_string());
    const std::string from = "#/components/schemas/";
    if (text.starts_with(from)) *ref = "#/definitions/" + text.substr(from.size());
  }
  if (auto* properties = object.if_contains("properties"); properties && properties->is_object()) {
    for (auto& property : properties->get_object()) to_v2(property.value());
  }
  for (const char* word : {"items", "additionalProperties", "not"}) {
    if (auto* held = object.if_contains(word)) to_v2(*held);
  }
  if (auto* all = object.if_contains("allOf"); all && all->is_array()) {
    for (auto& each : all->get_array()) to_v2(each);
  }
}

// Writes the definitions of a forwarded version whose server has no v2 document. They are taken from the server's v3 document.
void add_forwarded_v3(DocumentText& text, const VersionTable& version) {
  const auto document = forwarded_document(version);
  if (document == nullptr) return;
  const std::optional<Value> tree = read_json(*document);
  const Object* components = tree && tree->is_object() ? get_object(tree->get_object(), "components") : nullptr;
  const Object* schemas = components ? get_object(*components, "schemas") : nullptr;
  if (schemas != nullptr) text.foreign_definitions(*schemas, [](std::string_view, Value& definition, bool) { to_v2(definition); });
}

// Writes the paths of forwarded versions. Returns the definitions to which the paths refer.
OpenApiV2Merge add_forwarded_paths(DocumentText& text, const RouteTable& table, const std::vector<UsedDefinitions>& own) {
  OpenApiV2Merge merged([&own](std::string_view name) {
    return std::any_of(own.begin(), own.end(), [name](const UsedDefinitions& used) { return used.find(std::string(name)) != used.end(); });
  });
  for (const VersionTable* version : table.versions()) {
    const auto document = forwarded_document_v2(*version);
    std::optional<Value> part = document != nullptr ? read_json(*document) : std::nullopt;
    if (!part || !part->is_object()) continue;
    for (const auto& [path, item] : merged.add(std::move(part->get_object()))) text.member(path, item);
  }
  return merged;
}

}  // namespace

std::string openapi_v2_document(const RouteTable& table) {
  DocumentText text(table.openapi_enums);
  text.open();
  text.title("swagger", "2.0", table.emulation);
  std::vector<UsedDefinitions> used;
  Parameters shared;
  const auto add_page = [&](const OpenApiPage& page, UsedDefinitions& into) {
    if (!page.definition.empty()) into.emplace(page.definition, nullptr);
    text.member(page.path, page_object(page));
  };
  text.open("paths");
  UsedDefinitions& of_pages = used.emplace_back();
  for (const OpenApiPage& page : openapi_pages(table)) add_page(page, of_pages);
  for (const VersionTable* version : table.versions()) {
    if (version->forward) continue;
    const std::string tag = openapi_tag(version->version);
    UsedDefinitions& of_version = used.emplace_back();
    if (!version->dynamic) add_page(openapi_resource_list(*version), of_version);
    for (const auto& [path, operations] : openapi_operations(*version)) {
      Object item;
      for (const auto& operation : operations) {
        item[operation.method] = operation_object(operation, operations, tag, shared);
        add_used_definitions(operation, of_version);
      }
      if (Array parameters = shared.of(openapi_path_parameters(operations)); !parameters.empty()) {
        item["parameters"] = std::move(parameters);
      }
      text.member(path, std::move(item));
    }
  }
  const OpenApiV2Merge forwarded = add_forwarded_paths(text, table, used);
  text.close();
  SelectableFields fields;
  const auto adapt = [&table, &fields](std::string_view name, Value& definition, bool custom) {
    if (custom) {
      custom_definition_v2(definition.get_object());
      return note_selectable_fields(name, definition.get_object(), fields);
    }
    to_v2(definition);
    for (const std::string_view kind : {"DeleteOptions", "WatchEvent"}) {
      if (name == "io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(kind)) {
        definition.get_object()["x-kubernetes-group-version-kind"] = kinds_of_all_versions(table, kind);
      }
    }
  };
  text.open("definitions");
  for (const UsedDefinitions& of_version : used) text.definitions(of_version, adapt);
  for (const VersionTable* version : table.versions()) {
    if (version->forward && forwarded_document_v2(*version) == nullptr)
      add_forwarded_v3(text, *version);
    else if (!version->forward)
      undefined_lists(*version, kV2Reference, fields, text);
  }
  text.foreign_definitions(forwarded.definitions(), nullptr);
  text.close();
  Object parameters = shared.shared();
  for (const auto& each : forwarded.parameters()) parameters.emplace(each.key(), each.value());
  text.member("parameters", std::move(parameters));
  text.member("securityDefinitions", DocumentText::bearer_token());
  text.member("security", Array{Object{{"BearerToken", Array()}}});
  text.close();
  return text.take();
}

}  // namespace backplane
