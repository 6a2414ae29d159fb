#include "typing/served_types.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "typing/populated_schema.hpp"

namespace backplane::admissionregistration {
namespace {

// The maximum number of cached documents; a full cache is cleared.
constexpr std::size_t kMostDocuments = 8;
constexpr std::string_view kNamedGroups = "apis/";  // the prefix of paths such as "apis/apps/v1"

// "api/v1" or "apis/apps/v1".
std::string path_of(const GroupVersion& version) {
  return version.group.empty() ? "api/" + version.version : "apis/" + version.group + "/" + version.version;
}

bool is_kind(const Object& entry, const GroupVersionKind& kind) {
  return get_string(entry, "group") == kind.group && get_string(entry, "version") == kind.version && get_string(entry, "kind") == kind.kind;
}

bool describes(const Object& schema, const GroupVersionKind& kind) {
  bool out = false;
  each(schema, "x-kubernetes-group-version-kind", [&](const Object& entry, std::size_t) { out = out || is_kind(entry, kind); });
  return out;
}

// The kind of a resource that a discovery document lists; empty: none.
GroupVersionKind find_kind(const Object& list, const GroupVersionResource& resource) {
  GroupVersionKind out;
  each(list, "resources", [&](const Object& entry, std::size_t) {
    const std::string_view name = get_string(entry, "name");
    if (name.find('/') != std::string_view::npos || !out.kind.empty()) return;
    std::string singular(get_string(entry, "singularName"));
    if (singular.empty()) singular = lower_case(get_string(entry, "kind"));
    if (name == resource.resource || singular == resource.resource)
      out = {resource.group, resource.version, std::string(get_string(entry, "kind"))};
  });
  return out;
}

}  // namespace

Task<std::shared_ptr<const Object>> ServedTypes::fetch(std::string target) {
  HttpCall call;
  call.target = std::move(target);
  call.headers.emplace_back("Accept", "application/json");
  auto asking = api_.request(std::move(call));
  auto got = co_await std::move(asking);
  if (!got.ok()) co_return nullptr;
  co_return std::make_shared<const Object>(std::move(*got));
}

Task<void> ServedTypes::refresh() {
  discovered_.clear();
  auto fetching = fetch("/openapi/v3");
  const auto index = co_await std::move(fetching);
  if (index == nullptr) co_return;
  urls_.clear();
  for (const auto& [path, entry] : object_or_empty(*index, "paths")) {
    if (entry.is_object()) urls_[std::string(path)] = get_string(entry.get_object(), "serverRelativeURL");
  }
}

Task<std::vector<GroupVersionKind>> ServedTypes::kinds_of(GroupVersionResource resource) {
  std::vector<GroupVersionResource> candidates{resource};
  const std::string version = "/" + resource.version;
  for (const auto& [path, url] : urls_) {
    const std::string_view text = path;
    if (!resource.group.empty() || !text.starts_with(kNamedGroups) || !text.ends_with(version)) continue;
    const std::string_view group = text.substr(kNamedGroups.size(), text.size() - kNamedGroups.size() - version.size());
    candidates.emplace_back(std::string(group), resource.version, resource.resource);
  }
  std::vector<GroupVersionKind> out;
  for (GroupVersionResource& candidate : candidates) {
    auto adding = add_kind(std::move(candidate), out);
    co_await std::move(adding);
  }
  co_return out;
}

Task<void> ServedTypes::add_kind(GroupVersionResource resource, std::vector<GroupVersionKind>& out) {
  const std::string path = path_of({resource.group, resource.version});
  if (discovered_.find(path) == discovered_.end()) {
    auto fetching = fetch("/" + path);
    auto list = co_await std::move(fetching);
    discovered_[path] = std::move(list);
  }
  const auto& list = discovered_[path];
  if (list == nullptr) co_return;
  GroupVersionKind found = find_kind(*list, resource);
  if (!found.kind.empty()) out.push_back(std::move(found));
}

Task<std::shared_ptr<const Object>> ServedTypes::openapi_of(GroupVersion version) {
  const std::string path = path_of(version);
  const auto published = urls_.find(path);
  if (published == urls_.end()) co_return nullptr;
  const std::string url = published->second;
  if (const auto kept = documents_.find(path); kept != documents_.end() && kept->second.url == url) co_return kept->second.content;
  auto fetching = fetch(url);
  auto content = co_await std::move(fetching);
  if (content == nullptr) co_return nullptr;
  if (documents_.size() >= kMostDocuments) documents_.clear();
  documents_[path] = {url, content};
  co_return content;
}

Task<std::optional<Object>> ServedTypes::schema_of(GroupVersionKind kind) {
  auto getting = openapi_of(kind.group_version());
  const auto document = co_await std::move(getting);
  if (document == nullptr) co_return std::nullopt;
  const Object& schemas = object_or_empty(object_or_empty(*document, "components"), "schemas");
  for (const auto& [name, schema] : schemas) {
    if (schema.is_object() && describes(schema.get_object(), kind)) co_return populated_schema(schemas, name);
  }
  co_return std::nullopt;
}

}  // namespace backplane::admissionregistration
