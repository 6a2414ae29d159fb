#include "namespaces/namespace_contents.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::core {
namespace {

constexpr const char* kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr std::chrono::seconds kCallTimeout{60};

bool has_verb(const Object& resource, std::string_view verb) {
  const Array* verbs = get_array(resource, "verbs");
  return verbs != nullptr && std::any_of(verbs->begin(), verbs->end(), [&](const Value& each) { return text_of(each) == verb; });
}

// Appends the resource unless its group has it already. `first`: the index in `out` of the first resource of that group.
void add_resource(NamespacedResource found, const Object& resource, std::size_t first, std::vector<NamespacedResource>& out) {
  if (get_string(resource, "scope") != "Namespaced" || !has_verb(resource, "delete")) return;
  found.name = get_string(resource, "resource");
  found.lists = has_verb(resource, "list");
  found.collections = has_verb(resource, "deletecollection");
  const auto group = out.begin() + static_cast<std::ptrdiff_t>(first);
  const bool known = std::any_of(group, out.end(), [&](const NamespacedResource& other) { return other.name == found.name; });
  if (!known) out.push_back(std::move(found));
}

void add_group(const Object& group, std::vector<NamespacedResource>& out, DeletionReport& report) {
  const std::string name(meta_name(group));
  const std::size_t first = out.size();
  each(group, "versions", [&](const Object& version, std::size_t) {
    const std::string number(get_string(version, "version"));
    const std::string text = GroupVersion{name, number}.to_string();
    if (get_string(version, "freshness") == "Stale") {
      report.undiscovered[text] = "stale GroupVersion discovery: " + text;
      return;
    }
    each(version, "resources", [&](const Object& resource, std::size_t) { add_resource({name, number, ""}, resource, first, out); });
  });
}

}  // namespace

HttpCall deletion_call(std::string method, std::string target) {
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  call.deadline = std::chrono::steady_clock::now() + kCallTimeout;
  return call;
}

std::string NamespacedResource::path(const std::string& ns) const {
  return GroupVersion{group, version}.path() + "/namespaces/" + ns + "/" + name;
}

Task<std::vector<NamespacedResource>> discover_namespaced(ApiClient& api, DeletionReport& report) {
  std::vector<NamespacedResource> out;
  for (const char* root : {"/api", "/apis"}) {
    HttpCall call = deletion_call("GET", root);
    call.headers.emplace_back("Accept", kAggregated);
    auto groups = co_await api.request(std::move(call));
    if (groups.ok()) {
      each(*groups, "items", [&](const Object& group, std::size_t) { add_group(group, out, report); });
    } else if (groups.status().code() != 404) {
      report.discovery_problem = groups.status().message();
    }
  }
  co_return out;
}

}  // namespace backplane::core
