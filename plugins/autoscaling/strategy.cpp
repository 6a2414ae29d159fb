#include "strategy.hpp"

#include <algorithm>

#include "autoscaling_group_json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "conversion.hpp"

namespace backplane::autoscaling {
namespace {

class AutoscalerStrategy final : public kit::KindStrategy {
 public:
  AutoscalerStrategy(KindFacts facts, std::shared_ptr<const SchemaSet> stored, bool scale_to_zero)
      : KindStrategy(std::move(facts)), stored_(std::move(stored)), scale_to_zero_(scale_to_zero) {}
  void apply_defaults(Object& object) const override { drop_carried_annotations(object); }
  // Sets v2's defaults in v1's annotations, as reading the stored object does.
  void canonicalize(Object& object) const override {
    if (get_object(object_or_empty(object, "spec"), "behavior") == nullptr) return;
    Value tree(std::move(object));
    const Schema& type = *stored_->find(kStored);
    type.apply_defaults(tree);
    static_cast<void>(type.normalize(tree, nullptr).ok());
    object = std::move(tree.get_object());
  }

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    check_minimum(object, scale_to_zero_ ? 0 : 1, errors);
    check_target(target_of(object), errors);
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& target = target_of(object);
    const auto same = [&](std::string_view member) { return get_string(target, member) == get_string(target_of(old), member); };
    if (!same("kind") || !same("apiVersion")) check_target(target, errors);
    check_minimum(object, scale_to_zero_ || get_int_path(old, "spec.minReplicas") == 0 ? 0 : 1, errors);
  }

 private:
  static const Object& target_of(const Object& object) { return object_or_empty(object_or_empty(object, "spec"), "scaleTargetRef"); }
  // ReplicationController is the only kind without a group that has the subresource scale.
  static void check_target(const Object& target, FieldErrors& errors) {
    const std::string_view version = get_string(target, "apiVersion");
    const auto slashes = std::count(version.begin(), version.end(), '/');
    const bool grouped = slashes == 1 && !version.starts_with('/');
    if (slashes > 1) {
      errors.invalid("spec.scaleTargetRef.apiVersion", version, "unexpected GroupVersion string: " + std::string(version));
    } else if (!grouped && get_string(target, "kind") != "ReplicationController") {
      errors.invalid("spec.scaleTargetRef.apiVersion", version, "apiVersion must specify API group");
    }
  }
  static void check_minimum(const Object& object, std::int64_t least, FieldErrors& errors) {
    const auto replicas = get_int_path(object, "spec.minReplicas");
    if (!replicas || *replicas >= least) return;
    errors.invalid("spec.minReplicas", *replicas, "must be greater than or equal to " + std::to_string(least));
  }

  const std::shared_ptr<const SchemaSet> stored_;
  const bool scale_to_zero_;
};

class AutoscalerStatusStrategy final : public kit::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  std::optional<WrittenFields> written_fields() const override {
    WrittenFields out = *StatusStrategy::written_fields();
    out.given_later = show_carried_annotations;
    return out;
  }
  void canonicalize(Object& object) const override {
    parent().canonicalize(object);
    if (Object* status = mutable_object(object, "status")) null_when_empty(*status, "currentMetrics");
  }
};

// The strategy of v1 objects, for field management. It sets a default that v1's types do not have, and the annotations that the writer of a
// CPU percentage owns.
class ServedStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  std::optional<WrittenFields> written_fields() const override {
    return WrittenFields{.resets = {"status"}, .given_later = show_carried_annotations};
  }
  void apply_defaults(Object& object) const override { default_cpu_target(object); }
};

}  // namespace

Result<kit::GroupDocument> autoscaling_group(std::shared_ptr<const SchemaSet> stored, bool scale_to_zero) {
  kit::KindCode autoscaler{.make = kit::made<AutoscalerStrategy>(std::move(stored), scale_to_zero),
                           .views = {{kServed.version, kit::made<ServedStrategy>()}}};
  autoscaler.make_status = kit::made_status<AutoscalerStatusStrategy>;
  kit::GroupCode code;
  code.kinds[kStored.kind] = std::move(autoscaler);
  add_autoscaler_printers(code);
  return kit::read_group(autoscaling_group_json(), code);
}

}  // namespace backplane::autoscaling
