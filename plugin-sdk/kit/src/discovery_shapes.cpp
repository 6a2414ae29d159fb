#include "backplane/kit/discovery_shapes.hpp"

#include <string>
#include <unordered_map>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

// Limits that no real server exceeds; further entries are dropped.
constexpr std::size_t kMaxResources = 4096;
constexpr std::size_t kMaxWords = 256;
constexpr std::size_t kMaxWord = 1024;

std::string word(const Object& from, std::string_view key) { return std::string(get_string(from, key).substr(0, kMaxWord)); }

// Copies the strings of the list member `key` to the member `as`.
void copy_words(const Object& from, std::string_view key, std::string_view as, Object& to, bool always) {
  Array words;
  if (const Array* list = get_array(from, key)) {
    for (const Value& each : *list) {
      if (each.is_string() && words.size() < kMaxWords && each.get_string().size() <= kMaxWord) words.emplace_back(each.get_string());
    }
  }
  if (always || !words.empty()) to[as] = std::move(words);
}

Object kind_of(const Object* kind) {
  Object out;
  for (const std::string_view key : {"group", "version", "kind"}) out[key] = kind ? word(*kind, key) : std::string();
  return out;
}

Object aggregated_subresource(const Object& from) {
  Object out;
  out["subresource"] = word(from, "subresource");
  out["responseKind"] = kind_of(get_object(from, "responseKind"));
  copy_words(from, "verbs", "verbs", out, true);
  return out;
}

Object aggregated_resource(const Object& from) {
  Object out;
  out["resource"] = word(from, "resource");
  out["responseKind"] = kind_of(get_object(from, "responseKind"));
  out["scope"] = get_string(from, "scope") == "Cluster" ? "Cluster" : "Namespaced";
  out["singularResource"] = word(from, "singularResource");
  copy_words(from, "verbs", "verbs", out, true);
  copy_words(from, "shortNames", "shortNames", out, false);
  copy_words(from, "categories", "categories", out, false);
  Array subresources;
  if (const Array* list = get_array(from, "subresources")) {
    for (const Value& each : *list) {
      if (each.is_object() && subresources.size() < kMaxWords) subresources.emplace_back(aggregated_subresource(each.get_object()));
    }
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

Array resources_of(const Object& version) {
  Array out;
  if (const Array* resources = get_array(version, "resources")) {
    for (const Value& resource : *resources) {
      if (resource.is_object() && out.size() < kMaxResources) out.emplace_back(aggregated_resource(resource.get_object()));
    }
  }
  return out;
}

Object aggregated_version(const Object& from) {
  Object out;
  out["version"] = word(from, "version");
  if (Array resources = resources_of(from); !resources.empty()) out["resources"] = std::move(resources);
  out["freshness"] = get_string(from, "freshness") == "Stale" ? "Stale" : "Current";
  return out;
}

Object aggregated_group(const Object& from) {
  Object out;
  Object& metadata = out["metadata"].emplace_object();
  const Object* named = get_object(from, "metadata");
  if (std::string name = named ? word(*named, "name") : std::string(); !name.empty()) metadata["name"] = std::move(name);
  Array& versions = out["versions"].emplace_array();
  if (const Array* list = get_array(from, "versions")) {
    for (const Value& each : *list) {
      if (each.is_object() && versions.size() < kMaxWords) versions.emplace_back(aggregated_version(each.get_object()));
    }
  }
  return out;
}

Object kind_of_legacy(const Object& from) {
  Object out;
  for (const std::string_view key : {"group", "version", "kind"}) out[key] = word(from, key);
  return out;
}

Object resource_of_legacy(const Object& from) {
  Object out;
  out["resource"] = word(from, "name");
  out["responseKind"] = kind_of_legacy(from);
  out["scope"] = get_bool(from, "namespaced").value_or(false) ? "Namespaced" : "Cluster";
  out["singularResource"] = word(from, "singularName");
  copy_words(from, "verbs", "verbs", out, true);
  copy_words(from, "shortNames", "shortNames", out, false);
  copy_words(from, "categories", "categories", out, false);
  return out;
}

Object subresource_of_legacy(const Object& from, std::string_view name) {
  Object out;
  out["subresource"] = std::string(name);
  out["responseKind"] = kind_of_legacy(from);
  copy_words(from, "verbs", "verbs", out, true);
  return out;
}

const Array* versions_of(const Object& list, std::string_view group) {
  const Array* items = get_array(list, "items");
  if (items == nullptr) return nullptr;
  for (const Value& each : *items) {
    if (!each.is_object()) continue;
    const Object* metadata = get_object(each.get_object(), "metadata");
    if (metadata != nullptr && get_string(*metadata, "name") == group) return get_array(each.get_object(), "versions");
  }
  return nullptr;
}

}  // namespace

std::optional<Array> aggregated_resources(const Object& list, const GroupVersion& version) {
  const Array* versions = versions_of(list, version.group);
  if (versions == nullptr) return std::nullopt;
  for (const Value& each : *versions) {
    if (each.is_object() && get_string(each.get_object(), "version") == version.version) return resources_of(each.get_object());
  }
  return std::nullopt;
}

Array aggregated_groups(const Object& list) {
  Array out;
  const Array* items = get_array(list, "items");
  if (items == nullptr) return out;
  for (const Value& each : *items) {
    if (each.is_object() && out.size() < kMaxResources) out.emplace_back(aggregated_group(each.get_object()));
  }
  return out;
}

Array legacy_resources(const Object& list) {
  Array out;
  const Array* resources = get_array(list, "resources");
  if (resources == nullptr) return out;
  std::unordered_map<std::string, std::size_t> places;  // the position of the first resource with a name
  for (const bool subresources : {false, true}) {
    for (const Value& each : *resources) {
      if (!each.is_object() || (!subresources && out.size() >= kMaxResources)) continue;
      const Object& from = each.get_object();
      const std::string name = word(from, "name");
      const auto slash = name.find('/');
      if (!subresources && slash == std::string::npos) {
        places.emplace(name, out.size());
        out.emplace_back(resource_of_legacy(from));
      }
      if (!subresources || slash == std::string::npos) continue;
      const auto parent = places.find(name.substr(0, slash));
      if (parent == places.end()) continue;
      Array& under = ensure_array(out[parent->second].get_object(), "subresources");
      if (under.size() < kMaxWords) under.emplace_back(subresource_of_legacy(from, std::string_view(name).substr(slash + 1)));
    }
  }
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
