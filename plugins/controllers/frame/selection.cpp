#include "frame/selection.hpp"

#include <algorithm>
#include <array>

namespace backplane::controllers {
namespace {

// Controllers of kube-controller-manager 1.36 that are not in the table, with their former names.
struct OtherController {
  std::string_view name, alias;
};
constexpr std::array kOthers = {
    OtherController{"cloud-node-lifecycle-controller", "cloud-node-lifecycle"},
    OtherController{"cronjob-controller", "cronjob"},
    OtherController{"daemonset-controller", "daemonset"},
    OtherController{"deployment-controller", "deployment"},
    OtherController{"device-taint-eviction-controller", ""},
    OtherController{"disruption-controller", "disruption"},
    OtherController{"endpoints-controller", "endpoint"},
    OtherController{"endpointslice-controller", "endpointslice"},
    OtherController{"endpointslice-mirroring-controller", "endpointslicemirroring"},
    OtherController{"ephemeral-volume-controller", "ephemeral-volume"},
    OtherController{"horizontal-pod-autoscaler-controller", "horizontalpodautoscaling"},
    OtherController{"job-controller", "job"},
    OtherController{"kube-apiserver-serving-clustertrustbundle-publisher-controller", ""},
    OtherController{"namespace-controller", "namespace"},
    OtherController{"node-ipam-controller", "nodeipam"},
    OtherController{"node-lifecycle-controller", "nodelifecycle"},
    OtherController{"node-route-controller", "route"},
    OtherController{"persistentvolume-attach-detach-controller", "attachdetach"},
    OtherController{"persistentvolume-binder-controller", "persistentvolume-binder"},
    OtherController{"persistentvolume-expander-controller", "persistentvolume-expander"},
    OtherController{"podcertificaterequest-cleaner-controller", ""},
    OtherController{"podgroup-protection-controller", ""},
    OtherController{"replicaset-controller", "replicaset"},
    OtherController{"replicationcontroller-controller", "replicationcontroller"},
    OtherController{"resourceclaim-controller", "resource-claim-controller"},
    OtherController{"resourcepoolstatusrequest-controller", ""},
    OtherController{"selinux-warning-controller", ""},
    OtherController{"service-cidr-controller", ""},
    OtherController{"service-lb-controller", "service"},
    OtherController{"statefulset-controller", "statefulset"},
    OtherController{"storageversion-garbage-collector-controller", "storage-version-gc"},
    OtherController{"taint-eviction-controller", ""},
    OtherController{"ttl-controller", "ttl"},
    OtherController{"volumeattributesclass-protection-controller", ""},
};

template <class Rows>
std::string_view canonical_name(std::string_view text, const Rows& rows) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return !text.empty() && (row.name == text || row.alias == text); });
  return found == rows.end() ? std::string_view() : found->name;
}

}  // namespace

Result<Selection> Selection::parse(std::string_view list, const std::vector<ControllerRow>& table) {
  Selection out;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view text = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (text == "*") {
      out.star_ = true;
      continue;
    }
    const bool off = text.starts_with('-');
    if (off) text.remove_prefix(1);
    std::string_view name = canonical_name(text, table);
    const bool ours = !name.empty();
    if (!ours) name = canonical_name(text, kOthers);
    if (name.empty()) return bad_request("--controllers: " + quoted(text) + " is not in the list of known controllers");
    if (ours) out.entries_.push_back({std::string(name), off});
    if (!ours && !off) out.absent_.emplace_back(name);
  }
  return out;
}

bool Selection::enabled(const ControllerRow& row) const {
  const auto chosen = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == row.name; });
  if (chosen != entries_.end()) return !chosen->off;
  return star_ && row.on_by_default;
}

}  // namespace backplane::controllers
