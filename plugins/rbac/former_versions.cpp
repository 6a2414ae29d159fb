#include "former_versions.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/rest/former_versions.hpp"
#include "rbac_former_json.hpp"
#include "roles.hpp"

namespace backplane::rbac {
namespace {

using namespace kit;

// A subject of v1alpha1 has an apiVersion instead of a group, and its user `*` means every authenticated user.
void subject_to_v1(Object& subject) {
  const std::string_view kind = get_string(subject, "kind");
  const bool of_rbac = kind == "User" || kind == "Group";
  const std::string group = of_rbac                    ? "rbac.authorization.k8s.io"
                            : kind == "ServiceAccount" ? ""
                                                       : GroupVersion::parse(get_string(subject, "apiVersion")).group;
  erase_member(subject, "apiVersion");
  subject["apiGroup"] = group;
  if (kind != "User" || get_string(subject, "name") != "*") return;
  subject["kind"] = "Group";
  subject["name"] = "system:authenticated";
}

Status binding_from_v1alpha1(Object& binding) {
  each_mutable(binding, "subjects", subject_to_v1);
  return {};
}

}  // namespace

Status add_former_versions(Scheme& scheme) {
  const auto schemas = rbac_schemas();
  if (!schemas.ok()) return schemas.status();
  constexpr const char* kFormer = "rbac.authorization.k8s.io/v1alpha1";
  return add_former_versions(scheme, "rbac", rbac_former_json(), schemas->front(),
                             {{{"ClusterRoleBinding", kFormer}, binding_from_v1alpha1}, {{"RoleBinding", kFormer}, binding_from_v1alpha1}});
}

}  // namespace backplane::rbac
