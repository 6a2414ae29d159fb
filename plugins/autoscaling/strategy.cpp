#include "strategy.hpp"

#include "autoscaling_group_json.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/walk.hpp"
#include "conversion.hpp"

namespace backplane::autoscaling {
namespace {

class AutoscalerStrategy final : public kit::KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override { drop_carried_annotations(object); }
};

class AutoscalerStatusStrategy final : public kit::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  WrittenFields written_fields() const override {
    WrittenFields out = StatusStrategy::written_fields();
    out.given_later = show_carried_annotations;
    return out;
  }
  void canonicalize(Object& object) const override {
    if (Object* status = kit::mutable_object(object, "status")) kit::null_when_empty(*status, "currentMetrics");
  }
};

// v1's own form, as it is to be tracked: a default that its types do not know, and annotations that whoever writes a percentage owns.
class ServedStrategy final : public Strategy, public WrittenFieldsProvider {
 public:
  using Strategy::Strategy;
  WrittenFields written_fields() const override { return {.resets = {"status"}, .given_later = show_carried_annotations}; }
  void apply_defaults(Object& object) const override { default_cpu_target(object); }
};

}  // namespace

Result<kit::GroupDocument> autoscaling_group() {
  kit::KindCode autoscaler{.make = kit::made<AutoscalerStrategy>(), .views = {{kServed.version, kit::made<ServedStrategy>()}}};
  autoscaler.make_status = kit::made_status<AutoscalerStatusStrategy>;
  kit::GroupCode code;
  code.kinds[kStored.kind] = std::move(autoscaler);
  add_autoscaler_printers(code);
  return kit::read_group(autoscaling_group_json(), code);
}

}  // namespace backplane::autoscaling
