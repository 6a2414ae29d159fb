#include "accounts/mirror_pods.hpp"

#include "accounts/pod_references.hpp"
#include "backplane/core/json_access.hpp"

namespace backplane::admission::accounts {
namespace {

bool projects_tokens(const Object& spec) {
  bool found = false;
  each(spec, "volumes", [&](const Object& volume, std::size_t) {
    each(object_or_empty(volume, "projected"), "sources",
         [&](const Object& source, std::size_t) { found = found || has(source, "serviceAccountToken"); });
  });
  return found;
}

}  // namespace

bool is_mirror_pod(const Object& pod) {
  return object_or_empty(object_or_empty(pod, "metadata"), "annotations").contains(kMirrorPodAnnotation);
}

std::optional<std::string_view> forbidden_in_mirror_pod(const Object& pod_spec) {
  if (!get_string(pod_spec, "serviceAccountName").empty()) return "a mirror pod may not reference service accounts";
  if (references_secrets(pod_spec)) return "a mirror pod may not reference secrets";
  if (projects_tokens(pod_spec)) return "a mirror pod may not use ServiceAccountToken volume projections";
  return std::nullopt;
}

}  // namespace backplane::admission::accounts
