// OpenAPI documents made from the route table and the schema engine: v3 per group version, v2 for the whole server, and v2 in the
// protobuf form (gnostic's openapi.v2.Document) that older kubectl asks for.
//
// Thread-safety: pure functions of an immutable table.
#pragma once

#include <string>

#include "routing/route_table.hpp"

namespace backplane {

std::string openapi_v3_document(const VersionTable& version);
// What stands for the document in ETags and in the index, without making it; empty: only the document itself can tell.
std::string openapi_v3_hash(const VersionTable& version);
std::string openapi_v2_document(const RouteTable& table);
// `v2` is what openapi_v2_document gave.
std::string openapi_v2_protobuf(std::string_view v2);

// ---- shared by v2 and v3
struct OpenApiOperation {
  std::string path;                     // "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
  std::string method;                   // "get"
  std::string action;                   // x-kubernetes-action: get list post put patch delete deletecollection watch watchlist connect
  std::string id;                       // operationId
  std::vector<std::string_view> query;  // names of query parameters
  std::string body;                     // definition name, "" none, "Patch" for patches
  std::string result;                   // definition name, "" for connect (text)
  std::vector<int> codes;
  bool body_required = false;
  bool streams = false;   // lists and watches also produce the stream media types
  bool strategic = true;  // patches: strategic merge is offered
  const ResourceRow* row = nullptr;
};
// Every operation of a group version, by path.
std::map<std::string, std::vector<OpenApiOperation>> openapi_operations(const VersionTable& version);
std::string openapi_tag(const GroupVersion& version);      // "apps_v1"
std::string openapi_id_part(const GroupVersion& version);  // "AppsV1"
std::string definition_of(const ResourceRow& row, const GroupVersionKind& kind);
// The definitions that operations name, and the types they are looked up in first; null: the meta types alone.
using UsedDefinitions = std::map<std::string, const SchemaSet*>;
void add_used_definitions(const OpenApiOperation& operation, UsedDefinitions& used);
// Writes a document member by member, so that no tree of the whole is ever made.
class DocumentText {
 public:
  using Adapt = void (*)(Value& definition);

  // Without `enums` the values that a built-in field may have are left out; those of custom resources are their authors' and stay.
  explicit DocumentText(bool enums) : enums_(enums) {}
  // Of the object that is open.
  void member(std::string_view name, const Value& value);
  void open(std::string_view name = {});
  void close() { out_ += '}'; }
  // The definitions that are used, and those they refer to; each once, as `adapt` makes it.
  void definitions(const UsedDefinitions& used, Adapt adapt = nullptr);
  std::string take() { return std::move(out_); }

 private:
  void begin_member(std::string_view name);
  std::string out_;
  bool enums_;
  Object written_;  // by name; null
};
// "boolean", "integer" or "string".
std::string_view query_parameter_type(std::string_view name);

}  // namespace backplane
