#include "policies/policy_config.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"
#include "manifests/manifest_directory.hpp"

namespace backplane::admission::policies {
namespace {

constexpr std::string_view kPolicyConfigSchema = R"({"definitions": {
"io.k8s.apiserver.policyconfig.$version.$kind": {
  "x-kubernetes-group-version-kind": [{"group": "apiserver.config.k8s.io", "kind": "$kind", "version": "$version"}],
  "type": "object", "properties": {
  "TypeMeta": {"allOf": [{"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}], "x-backplane-inline": true},
  "staticManifestsDir": {"type": "string"}}}}})";

std::string schema_of_config(const std::string& kind) {
  std::string out(kPolicyConfigSchema);
  for (std::size_t at = out.find("$kind"); at != std::string::npos; at = out.find("$kind", at)) out.replace(at, 5, kind);
  return out;
}

}  // namespace

Result<std::string> read_policy_config(const AdmissionPluginConfig& config, const std::string& kind, bool manifests) {
  if (config.configuration.empty()) return std::string();
  const kit::ConfigDecoder decoder(kind, {"v1"}, schema_of_config(kind));
  auto document = decoder.decode(config.configuration);
  if (!document.ok()) return std::move(document.status());
  std::string directory(get_string(document->object, "staticManifestsDir"));
  if (Status usable = manifests::check_directory(directory, manifests); !usable.ok()) return usable;
  return directory;
}

}  // namespace backplane::admission::policies
