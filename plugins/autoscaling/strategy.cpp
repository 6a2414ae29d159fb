#include "strategy.hpp"

#include <array>

#include "autoscaling_group_json.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/walk.hpp"
#include "conversion.hpp"

namespace backplane::autoscaling {
namespace {

using namespace kit;

constexpr std::int64_t kDefaultPercent = 80;

struct Policy {
  const char* type;
  std::int64_t value;
};
constexpr std::int64_t kPolicySeconds = 15;

template <std::size_t N>
Array policies(const std::array<Policy, N>& rows) {
  Array out;
  for (const Policy& row : rows) {
    Object policy;
    policy["type"] = row.type;
    policy["value"] = row.value;
    policy["periodSeconds"] = kPolicySeconds;
    out.push_back(std::move(policy));
  }
  return out;
}

void fill_behavior(Object& behavior) {
  Object& up = ensure_object(behavior, "scaleUp");
  fill_missing(up, "stabilizationWindowSeconds", 0);
  fill_missing(up, "selectPolicy", "Max");
  fill_missing(up, "policies", policies(std::array<Policy, 2>{{{"Pods", 4}, {"Percent", 100}}}));
  Object& down = ensure_object(behavior, "scaleDown");
  fill_missing(down, "selectPolicy", "Max");
  fill_missing(down, "policies", policies(std::array<Policy, 1>{{{"Percent", 100}}}));
}

class AutoscalerStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override {
    drop_carried_annotations(object);
    Object& spec = ensure_object(object, "spec");
    fill_missing(spec, "minReplicas", 1);
    const Array* metrics = get_array(spec, "metrics");
    if (metrics == nullptr || metrics->empty()) {
      spec["metrics"] = Array({Value(cpu_metric(kDefaultPercent, spec.storage()))}, spec.storage());
    }
    if (Object* behavior = mutable_object(spec, "behavior")) fill_behavior(*behavior);
  }

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override { validate_autoscaler(object, nullptr, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    validate_autoscaler(object, &old, errors);
  }
};

class AutoscalerStatusStrategy final : public StatusStrategy {
 public:
  explicit AutoscalerStatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent)) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    for (const char* member : {"currentReplicas", "desiredReplicas"}) {
      const std::int64_t count = get_int(status, member).value_or(0);
      if (count < 0) errors.invalid(at("status", member), static_cast<long long>(count), "must be greater than or equal to 0");
    }
  }
};

}  // namespace

Result<GroupDocument> autoscaling_group() {
  GroupCode code{.kinds = {{kStored.kind, {.make = made<AutoscalerStrategy>(), .make_status = made_status<AutoscalerStatusStrategy>}}}};
  add_autoscaler_printers(code);
  return read_group(autoscaling_group_json(), code);
}

}  // namespace backplane::autoscaling
