#include "routing/openapi.hpp"
#include "routing/version.hpp"

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

Object plain_parameter(std::string_view name, std::string_view in, std::string_view type) {
  Object out;
  out["uniqueItems"] = true;
  out["type"] = type;
  out["name"] = name;
  out["in"] = in;
  if (in == "path") out["required"] = true;
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

Array produces(const OpenApiOperation& operation) {
  Array out = words({"application/json", "application/yaml"});
  if (operation.strategic) out.emplace_back("application/vnd.kubernetes.protobuf");
  if (operation.streams) {
    out.emplace_back("application/json;stream=watch");
    if (operation.strategic) out.emplace_back("application/vnd.kubernetes.protobuf;stream=watch");
  }
  return out;
}

Array consumes(const OpenApiOperation& operation) {
  if (operation.body != "Patch") return words({"*/*"});
  Array out = words({"application/json-patch+json", "application/merge-patch+json"});
  if (operation.strategic) out.emplace_back("application/strategic-merge-patch+json");
  out.emplace_back("application/apply-patch+yaml");
  return out;
}

Object operation_object(const OpenApiOperation& operation, const std::string& tag) {
  Object out;
  out["consumes"] = consumes(operation);
  out["produces"] = produces(operation);
  out["schemes"] = words({"https"});
  out["tags"] = Array{json::value(tag)};
  out["operationId"] = operation.id;
  Array parameters;
  if (!operation.body.empty()) parameters.emplace_back(body_parameter(operation));
  if (operation.action != "watch" && operation.action != "watchlist") {
    for (auto name : operation.query) parameters.emplace_back(plain_parameter(name, "query", query_parameter_type(name)));
  }
  if (!parameters.empty()) out["parameters"] = std::move(parameters);
  Object responses;
  for (int code : operation.codes) {
    Object response;
    response["description"] = code == 200 ? "OK" : code == 201 ? "Created" : "Accepted";
    if (!operation.result.empty()) response["schema"] = reference(operation.result);
    responses[std::to_string(code)] = std::move(response);
  }
  Object unauthorized;
  unauthorized["description"] = "Unauthorized";
  responses["401"] = std::move(unauthorized);
  out["responses"] = std::move(responses);
  out["x-kubernetes-action"] = operation.action;
  Object kind;
  kind["group"] = operation.row->kind.group;
  kind["kind"] = operation.row->kind.kind;
  kind["version"] = operation.row->kind.version;
  out["x-kubernetes-group-version-kind"] = std::move(kind);
  return out;
}

Array path_parameters(const std::string& path, const OpenApiOperation& first) {
  Array out;
  if (path.find("{name}") != std::string::npos) out.emplace_back(plain_parameter("name", "path", "string"));
  if (path.find("{namespace}") != std::string::npos) out.emplace_back(plain_parameter("namespace", "path", "string"));
  if (first.action == "watch" || first.action == "watchlist") {
    for (auto name : first.query) out.emplace_back(plain_parameter(name, "query", query_parameter_type(name)));
  }
  out.emplace_back(plain_parameter("pretty", "query", "string"));
  return out;
}

// Swagger 2.0 has one definitions object and knows neither allOf-wrapped references with siblings nor nullable: a wrapped reference
// becomes the reference itself, what v2 cannot say is left out.
void to_v2(Value& node) {
  if (node.is_array()) {
    for (auto& item : node.get_array()) to_v2(item);
    return;
  }
  if (!node.is_object()) return;
  Object& object = node.get_object();
  object.erase("nullable");
  object.erase("oneOf");
  object.erase("anyOf");
  if (auto* all = object.if_contains("allOf"); all && all->is_array() && all->get_array().size() == 1 && all->get_array()[0].is_object()) {
    Object inner = all->get_array()[0].get_object();
    object.erase("allOf");
    object.erase("default");
    for (auto& member : inner) object[member.key()] = member.value();
  }
  if (auto* ref = object.if_contains("$ref"); ref && ref->is_string()) {
    std::string text(ref->get_string());
    const std::string from = "#/components/schemas/";
    if (text.starts_with(from)) *ref = "#/definitions/" + text.substr(from.size());
  }
  for (auto& member : object) to_v2(member.value());
}

}  // namespace

std::string openapi_v2_document(const RouteTable& table) {
  DocumentText text(table.openapi_enums);
  text.open();
  text.member("swagger", "2.0");
  Object info;
  info["title"] = "Kubernetes";
  info["version"] = kOpenApiVersion;
  text.member("info", std::move(info));
  std::vector<UsedDefinitions> used;
  text.open("paths");
  for (const VersionTable* version : table.versions()) {
    const std::string tag = openapi_tag(version->version);
    UsedDefinitions& of_version = used.emplace_back();
    for (const auto& [path, operations] : openapi_operations(*version)) {
      Object item;
      for (const auto& operation : operations) {
        item[operation.method] = operation_object(operation, tag);
        add_used_definitions(operation, of_version);
      }
      item["parameters"] = path_parameters(path, operations.front());
      text.member(path, std::move(item));
    }
  }
  text.close();
  text.open("definitions");
  for (const UsedDefinitions& of_version : used) text.definitions(of_version, to_v2);
  text.close();

  Object bearer;
  bearer["type"] = "apiKey";
  bearer["name"] = "authorization";
  bearer["in"] = "header";
  Object security;
  security["BearerToken"] = std::move(bearer);
  text.member("securityDefinitions", std::move(security));
  Object requirement;
  requirement["BearerToken"] = Array();
  text.member("security", Array{std::move(requirement)});
  text.close();
  return text.take();
}

}  // namespace backplane
