#include "quota/claim_owner.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "quota/pod_usage.hpp"
#include "quota/stored_list.hpp"

namespace backplane::admission::quota {
namespace {

struct OwningPod {
  std::string name;
  std::string uid;  // empty: none
};

OwningPod owning_pod(const Object& claim) {
  OwningPod out;
  each(object_or_empty(claim, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    if (!get_bool(owner, "controller").value_or(false)) return;
    if (get_string(owner, "kind") != "Pod" || get_string(owner, "apiVersion") != "v1") return;
    out = {std::string(get_string(owner, "name")), std::string(get_string(owner, "uid"))};
  });
  return out;
}

// Whether `a`, of two claims of one pod, is the one that counts.
bool precedes(const Object& a, const Object& b) {
  const std::string_view a_time = meta_text(a, "creationTimestamp"), b_time = meta_text(b, "creationTimestamp");
  return a_time != b_time ? a_time < b_time : meta_name(a) < meta_name(b);
}

// Whether no other claim of the pod precedes this one.
Task<bool> is_first_claim(Host& host, const Object& claim, std::string ns, std::string uid) {
  const GroupVersionResource claims{"resource.k8s.io", "v1", "resourceclaims"};
  auto listing = stored_list(host, claims, std::move(ns), "0");
  auto listed = co_await std::move(listing);
  if (!listed.ok()) co_return false;
  for (const ObjectRef& entry : *listed) {
    const Object other = decode(*entry, json::storage_ptr());
    if (is_extended_claim(other) && owning_pod(other).uid == uid && precedes(other, claim)) co_return false;
  }
  co_return true;
}

}  // namespace

bool is_extended_claim(const Object& claim) {
  const Object& annotations = object_or_empty(object_or_empty(claim, "metadata"), "annotations");
  return get_string(annotations, "resource.kubernetes.io/extended-resource-claim") == "true";
}

Task<ResourceList> owner_usage(Host& host, const Gates& gates, const Object& claim, std::string ns) {
  const OwningPod owner = owning_pod(claim);
  const auto pods = host.find_storage({"", "v1", "pods"});
  auto* const getter = role_of<Getter>(pods);
  if (owner.uid.empty() || getter == nullptr) co_return ResourceList();
  RequestContext own;
  own.info.ns = ns;
  GetOptions options;
  options.resource_version = "0";
  auto reading = getter->get(own, owner.name, std::move(options));
  auto found = co_await std::move(reading);
  if (!found.ok()) co_return ResourceList();
  const Object pod = decode(**found, json::storage_ptr());
  if (meta_text(pod, "uid") != owner.uid) co_return ResourceList();
  const Object* recorded = get_object(object_or_empty(pod, "status"), "extendedResourceClaimStatus");
  bool belongs = recorded != nullptr && get_string(*recorded, "resourceClaimName") == meta_name(claim);
  if (recorded == nullptr) {
    auto looking = is_first_claim(host, claim, ns, owner.uid);
    belongs = co_await std::move(looking);
  }
  if (!belongs) co_return ResourceList();
  co_return pod_usage(pod, gates);
}

}  // namespace backplane::admission::quota
