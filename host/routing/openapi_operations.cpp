#include <algorithm>

#include "engine/codec.hpp"
#include "routing/openapi.hpp"
#include "routing/version.hpp"

namespace backplane {
namespace {

using Names = std::vector<std::string_view>;

const Names kListQuery{"allowWatchBookmarks",  "continue",          "fieldSelector", "labelSelector",  "limit", "pretty", "resourceVersion",
                       "resourceVersionMatch", "sendInitialEvents", "shardSelector", "timeoutSeconds", "watch"};
const Names kReadQuery{"pretty"};
const Names kWriteQuery{"dryRun", "fieldManager", "fieldValidation", "pretty"};
const Names kPatchQuery{"dryRun", "fieldManager", "fieldValidation", "force", "pretty"};
const Names kDeleteQuery{"dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
                         "pretty", "propagationPolicy"};
const Names kDeleteCollectionQuery{"continue",
                                   "dryRun",
                                   "fieldSelector",
                                   "gracePeriodSeconds",
                                   "ignoreStoreReadErrorWithClusterBreakingPotential",
                                   "labelSelector",
                                   "limit",
                                   "orphanDependents",
                                   "pretty",
                                   "propagationPolicy",
                                   "resourceVersion",
                                   "resourceVersionMatch",
                                   "sendInitialEvents",
                                   "shardSelector",
                                   "timeoutSeconds"};
// The query parameters of read operations of custom resources. Such operations list every member of the verb's options.
const Names kCustomReadQuery{"pretty", "resourceVersion"};

const std::string kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

std::string capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

// Returns an identifier of letters, digits and underscores. Each word after the first begins with a capital letter; the first also does if
// `capital` is true.
std::string identifier(std::string_view text, bool capital) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) {
      capital = true;
      continue;
    }
    out += capital ? capitalized(std::string_view(&c, 1)) : std::string(1, c);
    capital = false;
  }
  return out;
}

// "rbac.authorization.k8s.io" → "rbac.authorization". The core group becomes "core".
std::string_view group_title(std::string_view group) {
  constexpr std::string_view kDomain = ".k8s.io";
  if (group.empty()) return "core";
  return group.ends_with(kDomain) ? group.substr(0, group.size() - kDomain.size()) : group;
}

std::string group_tag(std::string_view group) { return identifier(group_title(group), false); }
std::string group_id_part(std::string_view group) { return identifier(group_title(group), true); }

bool has_verb(const ResourceRow& row, std::string_view verb) {
  return std::find(row.verbs.begin(), row.verbs.end(), verb) != row.verbs.end();
}

// Makes the operations of one row of the route table, and stores the texts that they share.
class RowOperations {
 public:
  RowOperations(const VersionTable& table, const ResourceRow& row, std::map<std::string, std::vector<OpenApiOperation>>& out)
      : row_(row), out_(out), id_part_(openapi_id_part(table.version)), kind_(definition_of(row, row.kind)) {
    const std::string base = table.version.path();
    const std::string scope = row.namespaced ? "/namespaces/{namespace}" : "";
    collection_ = base + scope + "/" + row.resource;
    all_ = base + "/" + row.resource;
    watch_ = base + "/watch" + scope + "/" + row.resource;
    watch_all_ = base + "/watch/" + row.resource;
    item_ = collection_ + "/{name}" + (row.subresource.empty() ? "" : "/" + row.subresource);
    custom_ = table.dynamic;
    cbor_ = table.openapi_cbor;
    const Schema* schema = row.storage != nullptr ? row.storage->schema() : nullptr;
    structural_ = schema != nullptr && schema->structural();
    list_ = openapi_list_definition(row);
    const RowRef* parent = table.rows.find(row.resource);
    subject_ = parent == nullptr ? row.kind.kind : (*parent)->kind.kind;
    name_ = std::string(row.namespaced ? "Namespaced" : "") + subject_ + capitalized(row.subresource);
    plain_name_ = row.kind.kind;
    // The scale of a custom resource has the x-kubernetes-group-version-kind of the custom resource.
    declared_kind_ = custom_ && parent != nullptr ? &(*parent)->kind : &row.kind;
  }

  void make() {
    const bool main = row_.subresource.empty();
    if (main && has_verb(row_, "list")) add(collection_, "get", "list", "list" + id_part_ + name_, kListQuery, "", list_, {200}, !custom_);
    if (main && has_verb(row_, "create"))
      add(collection_, "post", "post", "create" + id_part_ + name_, kWriteQuery, kind_, kind_, {200, 201, 202});
    if (main && has_verb(row_, "deletecollection")) {
      add(collection_, "delete", "deletecollection", "delete" + id_part_ + "Collection" + name_,
          custom_ ? kListQuery : kDeleteCollectionQuery, custom_ ? "" : kMeta + "DeleteOptions", kMeta + "Status", {200});
    }
    make_item();
    if (main && row_.namespaced) make_all_namespaces();
    if (main && !custom_ && has_verb(row_, "watch")) make_watch();
  }

 private:
  void make_item() {
    if (row_.connects) return make_connect();
    if (auto* stream = role_of<StreamGetter>(row_.storage)) return make_stream(*stream);
    if (has_verb(row_, "get"))
      add(item_, "get", "get", "read" + id_part_ + name_, custom_ ? kCustomReadQuery : kReadQuery, "", kind_, {200});
    if (has_verb(row_, "update")) add(item_, "put", "put", "replace" + id_part_ + name_, kWriteQuery, kind_, kind_, {200, 201});
    if (has_verb(row_, "patch"))
      add(item_, "patch", "patch", "patch" + id_part_ + name_, kPatchQuery, "Patch", kind_,
          custom_ ? std::vector<int>{200} : std::vector<int>{200, 201});
    if (!row_.subresource.empty() && has_verb(row_, "create")) {
      add(item_, "post", "post", "create" + id_part_ + name_, kWriteQuery, kind_, kind_, {200, 201, 202});
    }
    if (has_verb(row_, "delete")) {
      const auto* deleter = role_of<GracefulDeleter>(row_.storage);
      const bool returned = deleter != nullptr && deleter->returns_deleted();
      add(item_, "delete", "delete", "delete" + id_part_ + name_, kDeleteQuery, kMeta + "DeleteOptions",
          returned ? kind_ : kMeta + "Status", {200, 202});
    }
  }
  // Makes an operation for each method. If a path may follow the subresource, each method has a second operation.
  void make_connect() {
    auto* connecter = role_of<Connecter>(row_.storage);
    std::vector<ConnectParameter> parameters;
    if (auto* with_options = role_of<OptionConnecter>(row_.storage)) parameters = with_options->parameters();
    const auto declared = std::make_shared<const std::vector<ConnectParameter>>(std::move(parameters));
    for (const auto& method : connecter->connect_methods()) {
      std::string lower = method;
      for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      const std::string id = "connect" + id_part_ + capitalized(lower) + name_;
      add_text(item_, lower, "connect", id, declared, {"*/*"});
      if (row_.takes_path) add_text(item_ + "/{path}", lower, "connect", id + "WithPath", declared, {"*/*"});
    }
  }
  void make_stream(const StreamGetter& stream) {
    std::vector<ConnectParameter> parameters = stream.parameters();
    parameters.push_back({"pretty"});
    std::vector<std::string> types = stream.media_types();
    for (const std::string_view type : openapi_object_types(cbor_)) types.emplace_back(type);
    add_text(item_, "get", "get", "read" + id_part_ + name_, std::make_shared<const std::vector<ConnectParameter>>(std::move(parameters)),
             std::move(types));
  }
  void add_text(const std::string& path, std::string method, std::string action, std::string id,
                std::shared_ptr<const std::vector<ConnectParameter>> declared, std::vector<std::string> types) {
    Names names;
    for (const ConnectParameter& each : *declared) names.push_back(each.name);
    std::sort(names.begin(), names.end());
    add(path, std::move(method), std::move(action), std::move(id), names, "", "", {200});
    OpenApiOperation& added = out_[path].back();
    added.text_types = std::move(types);
    added.declared = std::move(declared);
  }
  void make_all_namespaces() {
    if (has_verb(row_, "list"))
      add(all_, "get", "list", "list" + id_part_ + plain_name_ + "ForAllNamespaces", kListQuery, "", list_, {200}, !custom_);
    if (!custom_ && has_verb(row_, "watch")) {
      add(watch_all_, "get", "watchlist", "watch" + id_part_ + plain_name_ + "ListForAllNamespaces", kListQuery, "", kMeta + "WatchEvent",
          {200}, true);
    }
  }
  void make_watch() {
    add(watch_, "get", "watchlist", "watch" + id_part_ + name_ + "List", kListQuery, "", kMeta + "WatchEvent", {200}, true);
    add(watch_ + "/{name}", "get", "watch", "watch" + id_part_ + name_, kListQuery, "", kMeta + "WatchEvent", {200}, true);
  }

  void add(const std::string& path, std::string method, std::string action, std::string id, const Names& query, std::string body,
           std::string result, std::vector<int> codes, bool streams = false) {
    OpenApiOperation operation;
    operation.path = path;
    operation.method = std::move(method);
    operation.subject = subject_;
    operation.action = std::move(action);
    operation.id = std::move(id);
    operation.query = query;
    operation.body = std::move(body);
    operation.result = std::move(result);
    operation.codes = std::move(codes);
    operation.body_required = operation.action == "post" || operation.action == "put" || operation.action == "patch";
    operation.streams = streams;
    operation.custom = custom_ || structural_;
    operation.cbor = cbor_ && !operation.custom;
    operation.row = &row_;
    operation.kind = declared_kind_;
    out_[path].push_back(std::move(operation));
  }

  const ResourceRow& row_;
  std::map<std::string, std::vector<OpenApiOperation>>& out_;
  std::string id_part_, kind_, list_, subject_, name_, plain_name_;
  std::string collection_, all_, watch_, watch_all_, item_;
  bool custom_ = false;
  bool cbor_ = false;
  bool structural_ = false;  // the types have no protobuf encoding and no strategic merge patch
  const GroupVersionKind* declared_kind_ = nullptr;
};

}  // namespace

std::string openapi_list_definition(const ResourceRow& row) {
  const auto* lister = role_of<Lister>(row.storage);
  return lister == nullptr ? std::string() : definition_of(row, {row.kind.group, row.kind.version, lister->list_kind()});
}

std::string openapi_tag(const GroupVersion& version) { return group_tag(version.group) + "_" + version.version; }

std::string openapi_id_part(const GroupVersion& version) { return group_id_part(version.group) + capitalized(version.version); }

std::string definition_of(const ResourceRow& row, const GroupVersionKind& kind) {
  if (row.schemas) {
    if (const Schema* schema = row.schemas->find(kind)) return std::string(schema->name());
  }
  if (const Schema* schema = meta_schemas()->find(kind)) return std::string(schema->name());
  // For kinds of custom resources, the name is the reversed group, the version and the kind.
  std::string out;
  std::string group = kind.group;
  while (!group.empty()) {
    const auto dot = group.rfind('.');
    out += group.substr(dot == std::string::npos ? 0 : dot + 1) + ".";
    group = dot == std::string::npos ? "" : group.substr(0, dot);
  }
  return out + kind.version + "." + kind.kind;
}

std::string_view OpenApiParameter::type() const noexcept {
  if (!declared_type.empty()) return declared_type;
  static constexpr std::string_view kBooleans[] = {
      "allowWatchBookmarks", "sendInitialEvents", "watch", "force", "orphanDependents", "ignoreStoreReadErrorWithClusterBreakingPotential"};
  static constexpr std::string_view kIntegers[] = {"limit", "timeoutSeconds", "gracePeriodSeconds"};
  if (in_path) return "string";
  if (std::find(std::begin(kBooleans), std::end(kBooleans), name) != std::end(kBooleans)) return "boolean";
  if (std::find(std::begin(kIntegers), std::end(kIntegers), name) != std::end(kIntegers)) return "integer";
  return "string";
}

namespace {

bool takes(const OpenApiOperation& operation, std::string_view query) {
  return std::find(operation.query.begin(), operation.query.end(), query) != operation.query.end();
}

OpenApiParameter query_parameter(const OpenApiOperation& operation, std::string_view name) {
  OpenApiParameter out{name, false, operation.action == "patch", {}, {}};
  if (operation.declared == nullptr || name == "pretty") return out;
  for (const ConnectParameter& each : *operation.declared) {
    if (each.name == name) out.declared_type = each.type;
  }
  if (!out.declared_type.empty()) out.declared_by = operation.row->kind.kind;
  return out;
}

bool all_take(std::span<const OpenApiOperation> operations, std::string_view query) {
  return std::all_of(operations.begin(), operations.end(), [&](const OpenApiOperation& each) { return takes(each, query); });
}

}  // namespace

std::vector<OpenApiParameter> openapi_path_parameters(std::span<const OpenApiOperation> operations) {
  std::vector<OpenApiParameter> out;
  const OpenApiOperation& first = operations.front();
  const std::string_view path = first.path;
  for (std::size_t at = path.find('{'); at != std::string_view::npos; at = path.find('{', at + 1)) {
    out.push_back({path.substr(at + 1, path.find('}', at) - at - 1), true, false, {}, {}});
  }
  for (const std::string_view name : first.query) {
    if (all_take(operations, name)) out.push_back(query_parameter(first, name));
  }
  std::stable_sort(out.begin(), out.end(), [](const OpenApiParameter& a, const OpenApiParameter& b) { return a.name < b.name; });
  return out;
}

std::vector<OpenApiParameter> openapi_own_parameters(const OpenApiOperation& operation, std::span<const OpenApiOperation> operations) {
  std::vector<OpenApiParameter> out;
  for (const std::string_view name : operation.query) {
    if (!all_take(operations, name)) out.push_back(query_parameter(operation, name));
  }
  return out;
}

namespace {

const std::vector<std::string_view> kPageTypes = {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};

}  // namespace

std::vector<std::string_view> openapi_object_types(bool cbor) {
  std::vector<std::string_view> out = kPageTypes;
  if (cbor) out.push_back("application/cbor");
  return out;
}

OpenApiPage openapi_resource_list(const VersionTable& table) {
  const GroupVersion& version = table.version;
  return {version.path() + "/", openapi_tag(version), "get" + openapi_id_part(version) + "APIResources", kMeta + "APIResourceList",
          openapi_object_types(table.openapi_cbor)};
}

std::vector<OpenApiPage> openapi_pages(const RouteTable& table) {
  std::vector<OpenApiPage> out;
  const auto is_there = [&](const std::string& path) { return table.paths->exact.count(path) != 0; };
  if (table.group("") != nullptr) out.push_back({"/api/", "core", "getCoreAPIVersions", kMeta + "APIVersions", kPageTypes});
  out.push_back({"/apis/", "apis", "getAPIVersions", kMeta + "APIGroupList", kPageTypes});
  for (const GroupEntry* group : table.named_groups()) {
    if (group->dynamic) continue;
    out.push_back({"/apis/" + group->name + "/", group_tag(group->name), "get" + group_id_part(group->name) + "APIGroup",
                   kMeta + "APIGroup", kPageTypes});
  }
  if (is_there("/version"))
    out.push_back({"/version/", "version", "getCodeVersion", "io.k8s.apimachinery.pkg.version.Info", {"application/json"}});
  if (is_there("/.well-known/openid-configuration")) {
    out.push_back(
        {"/.well-known/openid-configuration/", "WellKnown", "getServiceAccountIssuerOpenIDConfiguration", "", {"application/json"}, false});
  }
  if (is_there("/openid/v1/jwks")) {
    out.push_back({"/openid/v1/jwks/", "openid", "getServiceAccountIssuerOpenIDKeyset", "", {"application/jwk-set+json"}, false});
  }
  for (OpenApiPage& page : out) page.emulation = table.emulation;
  return out;
}

std::map<std::string, std::vector<OpenApiOperation>> openapi_operations(const VersionTable& version) {
  std::map<std::string, std::vector<OpenApiOperation>> out;
  version.rows.each([&](const std::string&, const RowRef& row) { RowOperations(version, *row, out).make(); });
  return out;
}

void add_used_definitions(const OpenApiOperation& operation, UsedDefinitions& used) {
  const SchemaSet* schemas = operation.row->schemas.get();
  if (!operation.result.empty()) used.emplace(operation.result, schemas);
  if (!operation.body.empty()) used.emplace(operation.body == "Patch" ? kMeta + "Patch" : operation.body, schemas);
}

}  // namespace backplane
