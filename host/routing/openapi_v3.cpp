#include "routing/openapi.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

constexpr std::string_view kRef = "#/components/schemas/";

Object reference(std::string_view definition) {
  Object out;
  out["$ref"] = std::string(kRef) + std::string(definition);
  return out;
}

Object parameter(std::string_view name, std::string_view in, std::string_view type) {
  Object out;
  out["name"] = name;
  out["in"] = in;
  if (in == "path") out["required"] = true;
  Object schema;
  schema["type"] = type;
  schema["uniqueItems"] = true;
  out["schema"] = std::move(schema);
  return out;
}

Object content(const OpenApiOperation& operation) {
  Object out;
  auto add = [&](std::string_view type) {
    Object media;
    media["schema"] = reference(operation.result);
    out[type] = std::move(media);
  };
  add("application/json");
  if (operation.streams) add("application/json;stream=watch");
  if (operation.strategic) {
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
    if (!operation.result.empty()) response["content"] = content(operation);
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
    for (std::string_view type : {"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
                                  "application/strategic-merge-patch+json"}) {
      if (type == "application/strategic-merge-patch+json" && !operation.strategic) continue;
      Object schema;
      schema["schema"] = reference("io.k8s.apimachinery.pkg.apis.meta.v1.Patch");
      media[type] = std::move(schema);
    }
  } else {
    Object schema;
    schema["schema"] = reference(operation.body);
    media["*/*"] = std::move(schema);
  }
  Object out;
  out["content"] = std::move(media);
  if (operation.body_required) out["required"] = true;
  return out;
}

Object operation_object(const OpenApiOperation& operation, const std::string& tag) {
  Object out;
  out["tags"] = Array{json::value(tag)};
  out["operationId"] = operation.id;
  // A watch by path takes its options from the path item; everything else lists its own.
  const bool watch_path = operation.action == "watch" || operation.action == "watchlist";
  if (!operation.query.empty() && !watch_path) {
    Array parameters;
    for (auto name : operation.query) parameters.emplace_back(parameter(name, "query", query_parameter_type(name)));
    out["parameters"] = std::move(parameters);
  }
  if (!operation.body.empty()) out["requestBody"] = request_body(operation);
  out["responses"] = responses(operation);
  out["x-kubernetes-action"] = operation.action;
  Object kind;
  kind["group"] = operation.row->kind.group;
  kind["version"] = operation.row->kind.version;
  kind["kind"] = operation.row->kind.kind;
  out["x-kubernetes-group-version-kind"] = std::move(kind);
  return out;
}

Array path_parameters(const std::string& path, const OpenApiOperation& first) {
  std::vector<Object> sorted;
  std::map<std::string, Object> by_name;
  if (path.find("{name}") != std::string::npos) by_name.emplace("name", parameter("name", "path", "string"));
  if (path.find("{namespace}") != std::string::npos) by_name.emplace("namespace", parameter("namespace", "path", "string"));
  if (first.action == "watch" || first.action == "watchlist") {
    for (auto name : first.query) by_name.emplace(name, parameter(name, "query", query_parameter_type(name)));
  }
  by_name.emplace("pretty", parameter("pretty", "query", "string"));
  Array out;
  // Path parameters first, as upstream lists them, then the query in alphabetical order.
  for (const auto& [name, item] : by_name) {
    if (item.at("in") == "path") out.emplace_back(item);
  }
  for (const auto& [name, item] : by_name) {
    if (item.at("in") != "path") out.emplace_back(item);
  }
  return out;
}

Object resource_list_path(const VersionTable& version) {
  OpenApiOperation operation;
  operation.result = "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList";
  operation.codes = {200};
  Object get;
  get["tags"] = Array{json::value(openapi_tag(version.version))};
  get["operationId"] = "get" + openapi_id_part(version.version) + "APIResources";
  get["responses"] = responses(operation);
  Object out;
  out["get"] = std::move(get);
  return out;
}

}  // namespace

std::string openapi_v3_hash(const VersionTable& version) {
  std::string said(kOpenApiVersion);
  bool known = true;
  version.rows.each([&](const std::string& path, const RowRef& row) {
    known = known && !row->identity.empty();
    said.append("\n").append(path).append(" ").append(row->identity);
  });
  return known ? sha512_hex(said) : std::string();
}

std::string openapi_v3_document(const VersionTable& version) {
  DocumentText text(version.openapi_enums);
  text.open();
  text.member("openapi", "3.0.0");
  Object info;
  info["title"] = "Kubernetes";
  info["version"] = kOpenApiVersion;
  text.member("info", std::move(info));

  UsedDefinitions used{{"io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList", nullptr}};
  const std::string tag = openapi_tag(version.version);
  text.open("paths");
  text.member(version.version.path() + "/", resource_list_path(version));
  for (const auto& [path, operations] : openapi_operations(version)) {
    Object item;
    for (const auto& operation : operations) {
      item[operation.method] = operation_object(operation, tag);
      add_used_definitions(operation, used);
    }
    item["parameters"] = path_parameters(path, operations.front());
    text.member(path, std::move(item));
  }
  text.close();

  text.open("components");
  text.open("schemas");
  text.definitions(used);
  text.close();
  Object bearer;
  bearer["type"] = "apiKey";
  bearer["name"] = "authorization";
  bearer["in"] = "header";
  Object security;
  security["BearerToken"] = std::move(bearer);
  text.member("securitySchemes", std::move(security));
  text.close();
  text.close();
  return text.take();
}

}  // namespace backplane
