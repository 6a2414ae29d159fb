#include "pods/pod_namespace_plugin.hpp"

#include "objects/request_match.hpp"

namespace backplane::admission::pods {

std::optional<Status> PodNamespacePlugin::admit_now(AdmissionAttributes& attributes) const {
  if (!objects::is_main_write(attributes, "", "pods")) return Status();
  const ObjectRef known = namespaces_.cached(attributes.ns);
  if (known == nullptr) return std::nullopt;
  return merge(attributes, objects::decoded(*known, attributes));
}

Task<Status> PodNamespacePlugin::admit(AdmissionAttributes& attributes) const {
  auto reading = read(attributes);
  auto ns = co_await std::move(reading);
  co_return ns.ok() ? merge(attributes, *ns) : std::move(ns).status();
}

std::optional<Status> PodNamespacePlugin::validate_now(const AdmissionAttributes& attributes) const {
  if (!objects::is_main_write(attributes, "", "pods")) return Status();
  const ObjectRef known = namespaces_.cached(attributes.ns);
  if (known == nullptr) return std::nullopt;
  return check(attributes, objects::decoded(*known, attributes));
}

Task<Status> PodNamespacePlugin::validate(const AdmissionAttributes& attributes) const {
  auto reading = read(attributes);
  auto ns = co_await std::move(reading);
  co_return ns.ok() ? check(attributes, *ns) : std::move(ns).status();
}

Task<Result<Object>> PodNamespacePlugin::read(const AdmissionAttributes& attributes) const {
  auto finding = namespaces_.find(attributes);
  auto found = co_await std::move(finding);
  if (found.ok()) co_return objects::decoded(**found, attributes);
  if (found.status().reason() == Reason::kForbidden) co_return std::move(found).status();
  co_return unreadable(attributes, std::move(found).status());
}

}  // namespace backplane::admission::pods
