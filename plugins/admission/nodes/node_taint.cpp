#include "nodes/node_taint.hpp"

#include "backplane/core/json_access.hpp"

namespace backplane::admission::nodes {
namespace {

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kNoSchedule = "NoSchedule";

void add_not_ready_taint(Object& spec) {
  bool found = false;
  each(spec, "taints", [&](const Object& taint, std::size_t) {
    found = found || (get_string(taint, "key") == kNotReady && get_string(taint, "effect") == kNoSchedule);
  });
  if (found) return;
  Object taint(spec.storage());
  taint["key"] = kNotReady;
  taint["effect"] = kNoSchedule;
  ensure_array(spec, "taints").push_back(std::move(taint));
}

class TaintNodesByCondition final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "TaintNodesByCondition"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool validates() const noexcept override { return false; }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    const bool node = attributes.resource.group.empty() && attributes.resource.resource == "nodes" && attributes.subresource.empty();
    if (node && attributes.object != nullptr) add_not_ready_taint(ensure_object(*attributes.object, "spec"));
    return Status();
  }
};

}  // namespace

std::shared_ptr<AdmissionPlugin> taint_nodes_by_condition() { return std::make_shared<TaintNodesByCondition>(); }

}  // namespace backplane::admission::nodes
