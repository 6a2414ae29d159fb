// OpenAPI documents made from the route table and the schema engine: v3 per group version and for each document of discovery, v2 for the
// whole server, and both in the protobuf form (gnostic's Document) that some clients ask for.
//
// Thread-safety: pure functions of an immutable table.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "backplane/points/authentication.hpp"
#include "backplane/rest/connect.hpp"
#include "routing/route_table.hpp"

namespace backplane {

// A document that is not of a resource: discovery, the version, the keys of tokens.
struct OpenApiPage {
  std::string path;        // "/apis/apps/"
  std::string tag;         // "apps"
  std::string id;          // operationId
  std::string definition;  // of the response; empty: a text
  std::vector<std::string_view> types;
  bool negotiated = true;  // request and response have the same media types
  ApiRelease emulation = kApiRelease;
  // The name of its v3 document: "apis/apps".
  std::string name() const { return path.substr(1, path.size() - 2); }
};
// The description of the page's operation.
std::string_view openapi_description(const OpenApiPage& page);
// All pages of the server except the lists of resources, which are in the document of their group version.
std::vector<OpenApiPage> openapi_pages(const RouteTable& table);
// The media types of objects of built-in kinds; `cbor`: CBOR is one of them.
std::vector<std::string_view> openapi_object_types(bool cbor);
OpenApiPage openapi_resource_list(const VersionTable& version);

std::string openapi_v3_page(const OpenApiPage& page);
// The document of a forwarded version: that of its server, if known.
bool has_openapi_v3(const VersionTable& version);
std::shared_ptr<const std::string> forwarded_document(const VersionTable& version);  // null: it is not forwarded, or nothing is known
std::string openapi_v3_document(const VersionTable& version);
// The document's hash for ETags and the index, without making the document; empty: it must be computed from the document.
std::string openapi_v3_hash(const VersionTable& version);
std::string openapi_v2_document(const RouteTable& table);
// `v2`: the result of openapi_v2_document(); `v3`: the result of one of the other functions.
std::string openapi_v2_protobuf(std::string_view v2);
std::string openapi_v3_protobuf(std::string_view v3);

// ---- shared by v2 and v3
struct OpenApiOperation {
  std::string path;                     // "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
  std::string method;                   // "get"
  std::string subject;                  // the kind of the resource, of a subresource that of what it belongs to
  std::string action;                   // x-kubernetes-action: get list post put patch delete deletecollection watch watchlist connect
  std::string id;                       // operationId
  std::vector<std::string_view> query;  // names of query parameters, sorted
  std::string body;                     // definition name, "" none, "Patch" for patches
  std::string result;                   // definition name, "" for a text
  std::vector<std::string> text_types;  // of a text
  std::vector<int> codes;
  bool body_required = false;
  bool streams = false;  // lists and watches also produce the stream media types
  bool cbor = false;     // requests and responses may be CBOR
  bool custom = false;   // of a custom resource: JSON and YAML alone, and no strategic merge
  const ResourceRow* row = nullptr;
  const GroupVersionKind* kind = nullptr;  // its x-kubernetes-group-version-kind
  // Parameters that the resource declares itself; their names are part of `query`.
  std::shared_ptr<const std::vector<ConnectParameter>> declared;
};
// The description of the operation.
std::string openapi_description(const OpenApiOperation& operation);
// Every operation of a group version, by path.
std::map<std::string, std::vector<OpenApiOperation>> openapi_operations(const VersionTable& version);
std::string openapi_tag(const GroupVersion& version);      // "apps_v1"
std::string openapi_id_part(const GroupVersion& version);  // "AppsV1"
std::string definition_of(const ResourceRow& row, const GroupVersionKind& kind);
std::string openapi_list_definition(const ResourceRow& row);  // empty: it cannot be listed
// The definitions that operations name, and the types they are looked up in first; null: the meta types alone.
using UsedDefinitions = std::map<std::string, const SchemaSet*>;
void add_used_definitions(const OpenApiOperation& operation, UsedDefinitions& used);
struct OpenApiParameter {
  std::string_view name;
  bool in_path = false;
  bool of_patch = false;  // patches have other descriptions
  // For parameters that the resource declares: the type, and the kind that has the member.
  std::string_view declared_type, declared_by;

  std::string_view in() const noexcept { return in_path ? "path" : "query"; }
  std::string_view type() const noexcept;  // "boolean", "integer" or "string"
};
// Parameters common to all operations of a path are declared at the path; others at the operation.  By name.
std::vector<OpenApiParameter> openapi_path_parameters(std::span<const OpenApiOperation> operations);
std::vector<OpenApiParameter> openapi_own_parameters(const OpenApiOperation& operation, std::span<const OpenApiOperation> operations);

// Writes a document member by member, so that no tree of the whole is ever made.
class DocumentText {
 public:
  // `custom`: the definition is of a custom resource.
  using Adapt = std::function<void(std::string_view name, Value& definition, bool custom)>;

  // Without `enums` the values of built-in fields are left out; the schemas of custom resources are unchanged. `document`: the group
  // version of the document; null: it is another document.
  explicit DocumentText(bool enums, const GroupVersion* document = nullptr) : enums_(enums), document_(document) {}
  // Writes a member of the open object.
  void member(std::string_view name, const Value& value);
  void open(std::string_view name = {});
  void close() { out_ += '}'; }
  // Writes the used definitions and those that they refer to, each once, after `adapt`.
  void definitions(const UsedDefinitions& used, const Adapt& adapt);
  // Writes one more definition, unless one of that name has been written.
  void definition(std::string_view name, const Value& schema);
  // Writes the definitions of another document that have not been written yet; definitions with equal names are taken as equal.
  void foreign_definitions(const Object& schemas, const Adapt& adapt);
  // Writes the first members of every document, and its security section. `release`: the emulated one.
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
