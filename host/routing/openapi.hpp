// Generates OpenAPI documents from the route table and the schemas. There is a v3 document for each group version and for each other page
// (OpenApiPage), and one v2 document for the whole server. Each document can be converted to protobuf (gnostic's message Document).
//
// Thread-safety: pure functions of an immutable route table.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "backplane/points/authentication.hpp"
#include "backplane/rest/connect.hpp"
#include "routing/route_table.hpp"

namespace backplane {

// A path without resources: a discovery document, /version, or a document about the keys of service account tokens.
struct OpenApiPage {
  std::string path;        // "/apis/apps/"
  std::string tag;         // "apps"
  std::string id;          // operationId
  std::string definition;  // the definition of the response; empty: the response is a text
  std::vector<std::string_view> types;
  bool negotiated = true;  // true: requests have the same media types
  ApiRelease emulation = kApiRelease;
  // Returns the name of the page's v3 document: "apis/apps".
  std::string name() const { return path.substr(1, path.size() - 2); }
};
// Returns the description of the page's operation.
std::string_view openapi_description(const OpenApiPage& page);
// Returns all pages of the server. The resource lists are not included, because the documents of their group versions have them.
std::vector<OpenApiPage> openapi_pages(const RouteTable& table);
// Returns the media types of objects of built-in kinds. `cbor`: includes CBOR.
std::vector<std::string_view> openapi_object_types(bool cbor);
OpenApiPage openapi_resource_list(const VersionTable& version);

std::string openapi_v3_page(const OpenApiPage& page);
// Returns false only if the version is forwarded and the other server's document is not known.
bool has_openapi_v3(const VersionTable& version);
// the other server's document; null: the version is not forwarded, or the document is not known
std::shared_ptr<const std::string> forwarded_document(const VersionTable& version);
std::string openapi_v3_document(const VersionTable& version);
// Returns the document's hash for ETags and the index, without generating the document. If the result is empty, the hash must be computed
// from the document.
std::string openapi_v3_hash(const VersionTable& version);
std::string openapi_v2_document(const RouteTable& table);
// `v2`: the result of openapi_v2_document(). `v3`: the result of openapi_v3_document() or openapi_v3_page().
std::string openapi_v2_protobuf(std::string_view v2);
std::string openapi_v3_protobuf(std::string_view v3);

// ---- used by the v2 and the v3 documents
struct OpenApiOperation {
  std::string path;                     // "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
  std::string method;                   // "get"
  std::string subject;                  // the kind of the resource; for a subresource, the kind of its parent resource
  std::string action;                   // x-kubernetes-action: get list post put patch delete deletecollection watch watchlist connect
  std::string id;                       // operationId
  std::vector<std::string_view> query;  // names of query parameters, sorted
  std::string body;                     // the definition of the request body; "": no body; "Patch": a patch
  std::string result;                   // the definition of the response; "": the response is a text
  std::vector<std::string> text_types;  // the media types if the response is a text
  std::vector<int> codes;
  bool body_required = false;
  bool streams = false;  // lists and watches also produce the stream media types
  bool cbor = false;     // requests and responses may be CBOR
  bool custom = false;   // a custom resource: only JSON and YAML, no strategic merge patch
  const ResourceRow* row = nullptr;
  const GroupVersionKind* kind = nullptr;  // x-kubernetes-group-version-kind
  // The parameters that the resource itself declares. `query` includes their names.
  std::shared_ptr<const std::vector<ConnectParameter>> declared;
};
// Returns the description of the operation.
std::string openapi_description(const OpenApiOperation& operation);
// Returns the operations of a group version, by path.
std::map<std::string, std::vector<OpenApiOperation>> openapi_operations(const VersionTable& version);
std::string openapi_tag(const GroupVersion& version);      // "apps_v1"
std::string openapi_id_part(const GroupVersion& version);  // "AppsV1"
std::string definition_of(const ResourceRow& row, const GroupVersionKind& kind);
std::string openapi_list_definition(const ResourceRow& row);  // empty if the resource cannot be listed
// Maps the name of a used definition to the types in which it is looked up before the meta types. Null: only the meta types are searched.
using UsedDefinitions = std::map<std::string, const SchemaSet*>;
void add_used_definitions(const OpenApiOperation& operation, UsedDefinitions& used);
struct OpenApiParameter {
  std::string_view name;
  bool in_path = false;
  bool of_patch = false;  // the descriptions of patch parameters differ
  // Set for parameters that the resource declares: the type, and the kind that has the member.
  std::string_view declared_type, declared_by;

  std::string_view in() const noexcept { return in_path ? "path" : "query"; }
  std::string_view type() const noexcept;  // "boolean", "integer" or "string"
};
// A parameter that all operations of a path have is declared at the path, other parameters at the operation. The results are sorted by
// name.
std::vector<OpenApiParameter> openapi_path_parameters(std::span<const OpenApiOperation> operations);
std::vector<OpenApiParameter> openapi_own_parameters(const OpenApiOperation& operation, std::span<const OpenApiOperation> operations);

// Writes a document member by member, so that the whole document is never in memory as a tree.
class DocumentText {
 public:
  // Changes a definition before it is written. `custom`: the definition belongs to a custom resource.
  using Adapt = std::function<void(std::string_view name, Value& definition, bool custom)>;

  // `enums`: if false, the enum values of built-in fields are left out; schemas of custom resources are unchanged. `document`: the group
  // version of the document; null: the document does not belong to a group version.
  explicit DocumentText(bool enums, const GroupVersion* document = nullptr) : enums_(enums), document_(document) {}
  // Writes a member of the open object.
  void member(std::string_view name, const Value& value);
  void open(std::string_view name = {});
  void close() { out_ += '}'; }
  // Writes the used definitions and the definitions to which they refer. Each is written once, after a call of `adapt`.
  void definitions(const UsedDefinitions& used, const Adapt& adapt);
  // Writes a definition, unless a definition of this name has been written.
  void definition(std::string_view name, const Value& schema);
  // Writes the definitions of another server's document, except those whose names have been written. Definitions of the same name are
  // assumed to be equal.
  void foreign_definitions(const Object& schemas, const Adapt& adapt);
  // Writes the members "openapi" or "swagger", and "info". `form`: the name of the first member. `release`: the emulated release.
  void title(std::string_view form, std::string_view version, const ApiRelease& release);
  static Object bearer_token();
  std::string take() { return std::move(out_); }

 private:
  void begin_member(std::string_view name);
  std::string out_;
  bool enums_;
  const GroupVersion* document_;
  Object written_;  // the names of the written definitions, with null as the value
};

}  // namespace backplane
