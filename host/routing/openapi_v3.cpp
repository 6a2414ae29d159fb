#include "backplane/net/forwarded_documents.hpp"
#include "routing/known_versions.hpp"
#include "routing/openapi_custom.hpp"

#include <algorithm>

namespace backplane {
namespace {

Object reference(std::string_view definition) {
  Object out;
  out["$ref"] = std::string(kV3Reference) + std::string(definition);
  return out;
}

Object parameter_object(const OpenApiParameter& parameter) {
  Object out{{"name", parameter.name}, {"in", parameter.in()}};
  if (parameter.in_path) out["required"] = true;
  out["schema"] = Object{{"type", parameter.type()}, {"uniqueItems", true}};
  return out;
}

Array parameter_list(std::span<const OpenApiParameter> parameters) {
  Array out;
  for (const OpenApiParameter& each : parameters) out.emplace_back(parameter_object(each));
  return out;
}

Object content(const OpenApiOperation& operation) {
  Object out;
  auto add = [&](std::string_view type) {
    Object media;
    media["schema"] = operation.result.empty() ? Object{{"type", "string"}} : reference(operation.result);
    out[type] = std::move(media);
  };
  if (!operation.text_types.empty()) {
    std::vector<std::string> types = operation.text_types;
    std::sort(types.begin(), types.end());
    for (const std::string& type : types) add(type);
    return out;
  }
  if (operation.cbor) {
    add("application/cbor");
    if (operation.streams) add("application/cbor-seq");
  }
  add("application/json");
  if (operation.streams) add("application/json;stream=watch");
  if (!operation.custom) {
    add("application/vnd.kubernetes.protobuf");
    if (operation.streams) add("application/vnd.kubernetes.protobuf;stream=watch");
  }
  add("application/yaml");
  return out;
}

Object responses(const OpenApiOperation& operation) {
  Object out;
  for (int code : operation.codes) {
    Object response;
    if (!operation.result.empty() || !operation.text_types.empty()) response["content"] = content(operation);
    response["description"] = code == 200 ? "OK" : code == 201 ? "Created" : "Accepted";
    out[std::to_string(code)] = std::move(response);
  }
  Object unauthorized;
  unauthorized["description"] = "Unauthorized";
  out["401"] = std::move(unauthorized);
  return out;
}

Object request_body(const OpenApiOperation& operation) {
  Object media;
  if (operation.body == "Patch") {
    const bool cbor = operation.cbor;
    for (std::string_view type : {"application/apply-patch+cbor", "application/apply-patch+yaml", "application/json-patch+json",
                                  "application/merge-patch+json", "application/strategic-merge-patch+json"}) {
      if (type == "application/strategic-merge-patch+json" && operation.custom) continue;
      if (type == "application/apply-patch+cbor" && !cbor) continue;
      Object schema;
      schema["schema"] = reference("io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
      media[type] = std::move(schema);
    }
  } else {
    const Object schema{{"schema", reference(operation.body)}};
    if (operation.custom) {
      for (const char* type : {"application/json", "application/yaml"}) media[type] = schema;
    } else {
      media["*/*"] = schema;
    }
  }
  Object out;
  out["content"] = std::move(media);
  if (operation.body_required) out["required"] = true;
  return out;
}

Object operation_object(const OpenApiOperation& operation, std::span<const OpenApiOperation> operations, const std::string& tag) {
  Object out;
  out["tags"] = Array{json::value(tag)};
  out["description"] = openapi_description(operation);
  out["operationId"] = operation.id;
  if (Array own = parameter_list(openapi_own_parameters(operation, operations)); !own.empty()) out["parameters"] = std::move(own);
  if (!operation.body.empty()) out["requestBody"] = request_body(operation);
  out["responses"] = responses(operation);
  out["x-kubernetes-action"] = operation.action;
  const GroupVersionKind& kind = *operation.kind;
  out["x-kubernetes-group-version-kind"] = Object{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
  return out;
}

Object page_object(const OpenApiPage& page) {
  Object content;
  for (const std::string_view type : page.types) {
    content[type] = Object{{"schema", page.definition.empty() ? Object{{"type", "string"}} : reference(page.definition)}};
  }
  Object get;
  get["tags"] = Array{json::value(page.tag)};
  get["description"] = openapi_description(page);
  get["operationId"] = page.id;
  get["responses"] = Object{{"200", {{"description", "OK"}, {"content", std::move(content)}}}, {"401", {{"description", "Unauthorized"}}}};
  return Object{{"get", std::move(get)}};
}

// `version`: null for a document that has no lists.
void put_components(DocumentText& text, const VersionTable* version, const UsedDefinitions& used) {
  text.open("components");
  if (!used.empty()) {
    text.open("schemas");
    text.definitions(used, nullptr);
    if (version != nullptr) undefined_lists(*version, kV3Reference, {}, text);
    text.close();
  }
  text.member("securitySchemes", DocumentText::bearer_token());
  text.close();
}

void put_custom_components(DocumentText& text, const VersionTable& version, const UsedDefinitions& used) {
  SelectableFields fields;
  text.open("components");
  text.open("schemas");
  text.definitions(used, [&fields](std::string_view name, Value& definition, bool custom) {
    if (name == "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")
      definition.get_object()["x-kubernetes-group-version-kind"] = kinds_of_client_versions("DeleteOptions");
    if (!custom) return;
    custom_definition_v3(definition.get_object());
    note_selectable_fields(name, definition.get_object(), fields);
  });
  undefined_lists(version, kV3Reference, fields, text);
  text.close();
  text.close();
}

}  // namespace

std::shared_ptr<const std::string> forwarded_document(const VersionTable& version) {
  return version.forwarded_documents ? version.forwarded_documents->openapi_v3 : nullptr;
}

bool has_openapi_v3(const VersionTable& version) { return version.forward == nullptr || forwarded_document(version) != nullptr; }

std::string openapi_v3_hash(const VersionTable& version) {
  if (const auto document = forwarded_document(version)) return sha512_hex(*document);
  std::string content = version.emulation.to_string();
  bool known = true;
  version.rows.each([&](const std::string& path, const RowRef& row) {
    known = known && !row->identity.empty();
    content.append("\n").append(path).append(" ").append(row->identity);
  });
  return known ? sha512_hex(content) : std::string();
}

std::string openapi_v3_page(const OpenApiPage& page) {
  DocumentText text(true);
  text.open();
  text.title("openapi", "3.0.0", page.emulation);
  text.open("paths");
  text.member(page.path, page_object(page));
  text.close();
  put_components(text, nullptr, page.definition.empty() ? UsedDefinitions{} : UsedDefinitions{{page.definition, nullptr}});
  text.close();
  return text.take();
}

std::string openapi_v3_document(const VersionTable& version) {
  if (const auto document = forwarded_document(version)) return *document;
  DocumentText text(version.openapi_enums, version.dynamic ? nullptr : &version.version);
  text.open();
  if (version.dynamic) {
    text.member("openapi", "3.0.0");
    text.member("info", Object{{"title", "Kubernetes CRD Swagger"}, {"version", "v0.1.0"}});
  } else {
    text.title("openapi", "3.0.0", version.emulation);
  }
  UsedDefinitions used;
  const std::string tag = openapi_tag(version.version);
  text.open("paths");
  if (!version.dynamic) {
    const OpenApiPage list = openapi_resource_list(version);
    used.emplace(list.definition, nullptr);
    text.member(list.path, page_object(list));
  }
  for (const auto& [path, operations] : openapi_operations(version)) {
    Object item;
    for (const auto& operation : operations) {
      item[operation.method] = operation_object(operation, operations, tag);
      add_used_definitions(operation, used);
    }
    item["parameters"] = parameter_list(openapi_path_parameters(operations));
    text.member(path, std::move(item));
  }
  text.close();
  if (version.dynamic)
    put_custom_components(text, version, used);
  else
    put_components(text, &version, used);
  text.close();
  return text.take();
}

}  // namespace backplane
