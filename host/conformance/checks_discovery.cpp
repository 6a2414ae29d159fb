#include <algorithm>
#include <cctype>
#include <map>

#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

constexpr std::string_view kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

// Returns the first object in the array parent[list] that has the value at the path `key`; null if there is none.
const Object* named(const Object& parent, std::string_view list, std::string_view key, std::string_view value) {
  const Array* items = get_array(parent, list);
  if (items == nullptr) return nullptr;
  for (const Value& item : *items) {
    const Object* object = item.if_object();
    if (object != nullptr && get_string_path(*object, key) == value) return object;
  }
  return nullptr;
}

bool contains(const Object& object, std::string_view list, std::string_view value) {
  const Array* items = get_array(object, list);
  return items != nullptr &&
         std::any_of(items->begin(), items->end(), [&](const Value& each) { return each.is_string() && each.get_string() == value; });
}

void check_group(Subject& subject, Report& report) {
  const Type& type = subject.type;
  if (type.group.empty()) return;
  const Answer groups = subject.api.get("/apis");
  const Object* listed = named(groups.object, "groups", "name", type.group);
  report.holds("/apis lists the group", listed != nullptr, shown(groups));
  report.holds("the group's list has the version", listed != nullptr && named(*listed, "versions", "version", type.version) != nullptr);
  const Answer group = subject.api.get("/apis/" + type.group);
  report.holds("the group's own document has the version", named(group.object, "versions", "version", type.version) != nullptr,
               shown(group));
  report.holds("the preferred version is served",
               named(group.object, "versions", "version", group.text("preferredVersion.version")) != nullptr, shown(group));
}

void check_resource(Subject& subject, Report& report, const Object& resource) {
  const Type& type = subject.type;
  report.holds("the kind begins with a capital letter", !type.kind.empty() && std::isupper(static_cast<unsigned char>(type.kind[0])) != 0);
  report.holds("the resource is in lower case",
               std::none_of(type.resource.begin(), type.resource.end(), [](unsigned char c) { return std::isupper(c) != 0; }));
  report.holds("the resource has a singular name", !get_string(resource, "singularName").empty(), to_json(resource));
  report.holds("a stored resource has a hash of its storage version",
               !subject.can("create") || !subject.can("get") || !get_string(resource, "storageVersionHash").empty(), to_json(resource));
  for (const char* verb : {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}) {
    if (!subject.can(verb)) continue;
    report.holds("the verb " + std::string(verb) + " has a lower-case name in the list", contains(resource, "verbs", verb));
  }
  if (subject.can("list")) report.holds("a resource with the verb list has watch", subject.can("watch"));
  if (subject.can("update")) report.holds("a resource with the verb update has patch", subject.can("patch"));
}

}  // namespace

void check_discovery(Subject& subject, Report& report) {
  const Type& type = subject.type;
  check_group(subject, report);
  const Answer version = subject.api.get(type.root());
  report.code("the version's document", version, 200);
  report.holds("it is an APIResourceList of the version",
               version.text("kind") == "APIResourceList" && version.text("groupVersion") == type.api_version(), shown(version));
  const Object* resource = named(version.object, "resources", "name", type.resource);
  if (report.holds("it lists the resource", resource != nullptr)) check_resource(subject, report, *resource);
  for (const auto& name : type.subresources) {
    const Object* part = named(version.object, "resources", "name", type.resource + "/" + name);
    report.holds("it lists the subresource " + name + " with its verbs", part != nullptr && get_array(*part, "verbs") != nullptr);
  }
  const Answer all = subject.api.get(type.group.empty() ? "/api" : "/apis", kAggregated);
  report.holds("aggregated discovery is served", all.text("kind") == "APIGroupDiscoveryList", shown(all));
  const Object* group = named(all.object, "items", "metadata.name", type.group);
  const Object* entry = group == nullptr ? nullptr : named(*group, "versions", "version", type.version);
  const Object* kind = entry == nullptr ? nullptr : named(*entry, "resources", "resource", type.resource);
  report.holds("aggregated discovery has the resource", kind != nullptr);
  report.holds("with the same kind", kind != nullptr && get_string_path(*kind, "responseKind.kind") == type.kind);
  report.holds("with the same scope", kind != nullptr && get_string(*kind, "scope") == (type.namespaced ? "Namespaced" : "Cluster"));
  report.code("an unknown resource is not found", subject.api.get(type.root() + "/conformance-none"), 404);
}

void check_openapi(Subject& subject, Report& report) {
  const Type& type = subject.type;
  const Answer index = subject.api.get("/openapi/v3");
  const std::string key = type.root().substr(1);
  const Object* paths = get_object(index.object, "paths");
  const Value* row = paths == nullptr ? nullptr : paths->if_contains(key);
  if (!report.holds("/openapi/v3 lists the version", row != nullptr && row->is_object(), shown(index))) return;
  const std::string url(get_string(row->get_object(), "serverRelativeURL"));
  const Answer document = subject.api.get(url);
  report.code("the version's document", document, 200);
  report.holds("it may be cached forever under its hash", document.header("Cache-Control").find("immutable") != std::string_view::npos,
               std::string(document.header("Cache-Control")));
  const Object* documented = get_object(document.object, "paths");
  const std::string collection = type.root() + (type.namespaced ? "/namespaces/{namespace}/" : "/") + type.resource;
  report.holds("it has the path of the collection", documented != nullptr && documented->contains(collection), collection);
  report.holds("it has the path of one object", documented != nullptr && documented->contains(collection + "/{name}"));
  const Value* schemas = find_path(document.object, "components.schemas");
  const Object* found = nullptr;
  const Object none;
  for (const auto& [name, schema] : schemas != nullptr && schemas->is_object() ? schemas->get_object() : none) {
    if (!schema.is_object()) continue;
    if (named(schema.get_object(), "x-kubernetes-group-version-kind", "kind", type.kind) != nullptr) found = &schema.get_object();
  }
  if (!report.holds("it has a schema with the kind", found != nullptr)) return;
  const Object* properties = get_object(*found, "properties");
  for (const char* name : {"apiVersion", "kind", "metadata"})
    report.holds("the schema has " + std::string(name), properties != nullptr && properties->contains(name));
  report.code("/openapi/v2", subject.api.get("/openapi/v2"), 200);
}

void check_access(Subject& subject, Report& report) {
  const Answer refused = subject.anonymous_api.get(subject.collection());
  const bool denied = refused.code == 401 || refused.code == 403;
  report.holds("a list without credentials is refused", denied, shown(refused));
  report.holds("with a Status", refused.text("kind") == "Status", shown(refused));
  if (subject.can("create")) {
    const Answer write = subject.anonymous_api.post(subject.collection("dryRun=All"), subject.object(subject.fresh()));
    report.holds("a create without credentials is refused", write.code == 401 || write.code == 403, shown(write));
  }
  const Answer deletion = subject.anonymous_api.remove(subject.item("none"));
  report.holds("a deletion without credentials is refused", deletion.code == 401 || deletion.code == 403, shown(deletion));
  const Answer put = subject.api.put(subject.collection(), subject.object("none"));
  report.holds("a collection cannot be replaced", put.code == 405 || put.code == 400, shown(put));
  const Answer answer = subject.api.get(subject.collection("limit=1"));
  report.holds("a response names its audit event", !answer.header("Audit-Id").empty());
  report.holds("a response is not cached", answer.header("Cache-Control") == "no-cache, private",
               std::string(answer.header("Cache-Control")));
}

}  // namespace backplane::conformance
