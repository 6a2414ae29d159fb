#include "gc/types.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "gc/graph.hpp"

namespace backplane::controllers {
namespace {

constexpr const char* kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

bool has_verbs(const Object& resource, std::initializer_list<std::string_view> wanted) {
  const std::vector<std::string> verbs = texts_of(resource, "verbs");
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](std::string_view verb) { return std::find(verbs.begin(), verbs.end(), verb) != verbs.end(); });
}

void add_type(ServedTypes& out, const std::string& group, const std::string& version, const Object& resource) {
  ServedType type;
  type.resource = GroupVersionResource(group, version, std::string(get_string(resource, "resource")));
  type.kind = get_string_path(resource, "responseKind.kind");
  type.namespaced = get_string(resource, "scope") == "Namespaced";
  if (type.kind.empty() || !has_verbs(resource, {"get"})) return;
  out.by_type.emplace(gc::type_text(GroupVersion{group, version}.to_string(), type.kind), type);
  if (has_verbs(resource, {"delete", "list", "watch"})) out.collectable[{group, type.resource.resource}].versions.push_back(type);
}

void add_group(ServedTypes& out, const Object& group) {
  const std::string name(meta_name(group));
  each(group, "versions", [&](const Object& version, std::size_t) {
    if (get_string(version, "freshness") == "Stale") out.stale_groups.insert(name);
    const std::string number(get_string(version, "version"));
    each(version, "resources", [&](const Object& resource, std::size_t) { add_type(out, name, number, resource); });
  });
}

}  // namespace

Task<Result<ServedTypes>> discover_types(ApiClient api) {
  ServedTypes out;
  for (const char* root : {"/api", "/apis"}) {
    HttpCall call;
    call.target = root;
    call.headers.emplace_back("Accept", kAggregated);
    auto groups = co_await api.request(std::move(call));
    if (!groups.ok()) co_return std::move(groups).status();
    each(*groups, "items", [&](const Object& group, std::size_t) { add_group(out, group); });
  }
  co_return out;
}

}  // namespace backplane::controllers
