#include "quota/limits_config.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::quota {
namespace {

struct ConfigVersion {
  std::string_view api_version;
  std::string_view kind;
};
constexpr std::array<ConfigVersion, 3> kVersions = {{
    {"apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"},
    {"resourcequota.admission.k8s.io/v1beta1", "Configuration"},
    {"resourcequota.admission.k8s.io/v1alpha1", "Configuration"},
}};

Status check_members(const Object& object, std::initializer_list<std::string_view> known, const std::string& path) {
  for (const auto& [key, _] : object) {
    if (std::find(known.begin(), known.end(), std::string_view(key)) != known.end()) continue;
    return bad_request("strict decoding error: unknown field " + quoted(path + std::string(key)));
  }
  return {};
}

Status check_version(const Object& root) {
  const std::string_view version = get_string(root, "apiVersion"), kind = get_string(root, "kind");
  const bool known = std::any_of(kVersions.begin(), kVersions.end(),
                                 [&](const ConfigVersion& each) { return each.api_version == version && each.kind == kind; });
  if (known) return {};
  return bad_request("no kind " + quoted(kind) + " is registered for version " + quoted(version) +
                     " in the configuration of ResourceQuota");
}

Result<LimitedResource> read_limited(const Object& row, const std::string& path) {
  Status members = check_members(row, {"apiGroup", "resource", "matchContains", "matchScopes"}, path + ".");
  if (!members.ok()) return members;
  LimitedResource out;
  out.resource = {std::string(get_string(row, "apiGroup")), std::string(get_string(row, "resource"))};
  if (out.resource.resource.empty()) return bad_request(path + ".resource: Required value");
  out.match_contains = texts_of(row, "matchContains");
  each(row, "matchScopes", [&](const Object& item, std::size_t) { out.match_scopes.push_back(read_scope_selector(item)); });
  return out;
}

}  // namespace

Result<LimitedResources> parse_limits(std::string_view text) {
  LimitedResources out;
  if (text.empty()) return out;
  auto parsed = parse_json(text, {}, nullptr);
  if (!parsed.ok()) return std::move(parsed.status());
  if (!parsed->is_object()) return bad_request("the configuration of ResourceQuota must be an object");
  const Object& root = parsed->get_object();
  Status usable = check_version(root);
  if (usable.ok()) usable = check_members(root, {"apiVersion", "kind", "limitedResources"}, "");
  if (!usable.ok()) return usable;
  const Array* rows = get_array(root, "limitedResources");
  for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    const Object* row = (*rows)[i].if_object();
    const std::string path = "limitedResources[" + std::to_string(i) + "]";
    if (row == nullptr) return bad_request(path + ": must be an object");
    auto limited = read_limited(*row, path);
    if (!limited.ok()) return std::move(limited.status());
    out.push_back(std::move(*limited));
  }
  return out;
}

}  // namespace backplane::admission::quota
