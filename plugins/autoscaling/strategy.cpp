#include "strategy.hpp"

#include "autoscaling_group_json.hpp"
#include "backplane/kit/strategy.hpp"
#include "conversion.hpp"

namespace backplane::autoscaling {
namespace {

class AutoscalerStrategy final : public kit::KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override { drop_carried_annotations(object); }
};

// v1's own form, as it is to be tracked: a default that its types do not know.
class ServedStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  void apply_defaults(Object& object) const override { default_cpu_target(object); }
};

}  // namespace

Result<kit::GroupDocument> autoscaling_group() {
  kit::GroupCode code{
      .kinds = {{kStored.kind, {.make = kit::made<AutoscalerStrategy>(), .views = {{kServed.version, kit::made<ServedStrategy>()}}}}}};
  add_autoscaler_printers(code);
  return kit::read_group(autoscaling_group_json(), code);
}

}  // namespace backplane::autoscaling
