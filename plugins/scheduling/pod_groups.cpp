// Pod groups: rules of their status' claims, and columns.
#include "pod_groups.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"

namespace backplane::scheduling {
namespace {

using namespace kit;

// If the gate of disruptionMode is off, the field is removed with its default. A read of the stored object sets the default again, so it is
// set here, too.
class PodGroupStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& object) const override { fill_missing(ensure_object(object, "spec"), "disruptionMode", "Pod"); }
};

class PodGroupStatusStrategy final : public StatusStrategy {
 public:
  explicit PodGroupStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.kept_metadata = {"labels", "annotations", "finalizers", "ownerReferences"}}) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    each(status, "resourceClaimStatuses", [&](const Object& claim, std::size_t i) {
      const std::string_view name = get_string(claim, "name");
      if (find_item(object_or_empty(object, "spec"), "resourceClaims", "name", name) != nullptr) return;
      errors.invalid(at(at("status.resourceClaimStatuses", i), "name"), name, "must match the name of an entry in `spec.resourceClaims`");
    });
  }
};

void print_policy(const Object& group, std::int64_t, Array& cells) {
  cells.emplace_back(find_path(group, {"spec", "schedulingPolicy", "gang"}) != nullptr ? "Gang" : "Basic");
}

void print_state(const Object& group, std::int64_t, Array& cells) {
  const Object& status = object_or_empty(group, "status");
  const Object* scheduled = find_item(status, "conditions", "type", "PodGroupScheduled");
  const Object* disrupted = find_item(status, "conditions", "type", "DisruptionTarget");
  std::string_view out = scheduled == nullptr ? "Pending" : get_string(*scheduled, "status") == "True" ? "Scheduled" : "Unschedulable";
  if (disrupted != nullptr) out = get_string(*disrupted, "reason");
  cells.emplace_back(out);
}

}  // namespace

void add_pod_groups(GroupCode& code) {
  code.kinds["PodGroup"] = {.make = made<PodGroupStrategy>(), .make_status = made_status<PodGroupStatusStrategy>};
  code.printers.insert({{"policy", print_policy}, {"groupState", print_state}});
}

}  // namespace backplane::scheduling
