#include "conformance/types.hpp"

#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::conformance {
namespace {

// Returns the types of one version, from its APIResourceList.
std::vector<Type> types_in(const Object& list, const std::string& group, const std::string& version) {
  std::map<std::string, Type> types;
  std::vector<std::pair<std::string, std::string>> parts;
  const Array* resources = get_array(list, "resources");
  for (const Value& each : resources == nullptr ? Array() : *resources) {
    const Object& resource = each.get_object();
    const std::string name(get_string(resource, "name"));
    if (const auto slash = name.find('/'); slash != std::string::npos) {
      parts.emplace_back(name.substr(0, slash), name.substr(slash + 1));
      continue;
    }
    Type type{group,
              version,
              name,
              std::string(get_string(resource, "singularName")),
              std::string(get_string(resource, "kind")),
              get_bool(resource, "namespaced").value_or(false),
              {},
              {}};
    const Array* verbs = get_array(resource, "verbs");
    for (const Value& verb : verbs == nullptr ? Array() : *verbs) type.verbs.insert(std::string(text_of(verb)));
    types.emplace(name, std::move(type));
  }
  for (auto& [name, part] : parts) {
    if (const auto found = types.find(name); found != types.end()) found->second.subresources.insert(part);
  }
  std::vector<Type> out;
  for (auto& [_, type] : types) out.push_back(std::move(type));
  return out;
}

}  // namespace

std::vector<Type> types_of(Api& api, const std::string& group) {
  std::vector<std::string> versions;
  if (group.empty()) {
    versions.emplace_back("v1");
  } else {
    const Answer document = api.get("/apis/" + group);
    const Array* listed = get_array(document.object, "versions");
    for (const Value& each : listed == nullptr ? Array() : *listed) versions.emplace_back(get_string(each.get_object(), "version"));
  }
  std::vector<Type> out;
  for (const auto& version : versions) {
    const Answer list = api.get((group.empty() ? "/api/" : "/apis/" + group + "/") + version);
    for (Type& type : types_in(list.object, group, version)) out.push_back(std::move(type));
  }
  return out;
}

const Object* sample_of(const std::vector<Object>& samples, const Type& type) {
  for (const Object& sample : samples) {
    if (get_string(sample, "kind") == type.kind && get_string(sample, "apiVersion") == type.api_version()) return &sample;
  }
  return nullptr;
}

}  // namespace backplane::conformance
