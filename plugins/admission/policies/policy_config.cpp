#include "policies/policy_config.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::policies {

Status check_policy_config(const AdmissionPluginConfig& config, std::string_view kind) {
  if (config.configuration.empty()) return {};
  const auto parsed = parse_json(config.configuration, {}, nullptr);
  if (!parsed.ok()) return parsed.status();
  const Object* object = parsed->if_object();
  const bool known =
      object != nullptr && get_string(*object, "apiVersion") == "apiserver.config.k8s.io/v1" && get_string(*object, "kind") == kind;
  if (!known) return bad_request("the configuration must be a " + std::string(kind) + " of apiserver.config.k8s.io/v1");
  const std::string_view folder = get_string(*object, "staticManifestsDir");
  if (folder.empty()) return {};
  return bad_request("static policy manifests dir " + quoted(folder) +
                     " configured but ManifestBasedAdmissionControlConfig feature gate is not enabled");
}

}  // namespace backplane::admission::policies
