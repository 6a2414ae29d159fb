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

}  // namespace

Result<kit::GroupDocument> autoscaling_group() {
  kit::GroupCode code{.kinds = {{kStored.kind, {.make = kit::made<AutoscalerStrategy>()}}}};
  add_autoscaler_printers(code);
  return kit::read_group(autoscaling_group_json(), code);
}

}  // namespace backplane::autoscaling
