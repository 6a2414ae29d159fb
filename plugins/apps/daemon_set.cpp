// DaemonSets.
#include "daemon_set.hpp"

#include <algorithm>
#include <charconv>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/workload/strategy.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

using namespace kit;
using namespace workload;

// The number of template changes, in the annotation that old clients read.
constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";

std::int64_t template_generation(const Object& object) {
  const Value* text = find_path(object, {"metadata", "annotations", kTemplateGeneration});
  std::int64_t out = 0;
  const std::string_view digits = text != nullptr ? text_of(*text) : std::string_view();
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

class DaemonSetStrategy final : public WorkloadStrategy {
 public:
  using WorkloadStrategy::WorkloadStrategy;
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    if (old != nullptr && template_generation(object) == template_generation(*old)) return {};
    return workload_warnings(object, nullptr);
  }

  // Every object of this version has the annotation. It is set before field management, so each writer owns it.
  void apply_defaults(Object& object) const override {
    WorkloadStrategy::apply_defaults(object);
    // In upstream's internal type these numbers are never unset.
    const Value* found = find_path(object, {"spec", "updateStrategy", "rollingUpdate"});
    if (found != nullptr && found->is_object()) {
      Object& update = ensure_object(ensure_object(ensure_object(object, "spec"), "updateStrategy"), "rollingUpdate");
      fill_missing(update, "maxUnavailable", 0);
      fill_missing(update, "maxSurge", 0);
    }
    if (find_path(object, {"metadata", "annotations", kTemplateGeneration}) == nullptr) set_template_generation(object, 0);
  }

 protected:
  void prepare_create(Object& object) const override {
    set_template_generation(object, std::max<std::int64_t>(1, template_generation(object)));
  }
  void prepare_update(Object& object, const Object& old) const override {
    const bool changed = !same_member(object_or_empty(object, "spec"), object_or_empty(old, "spec"), "template");
    set_template_generation(object, template_generation(old) + (changed ? 1 : 0));
  }
};

class DaemonSetStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    set_template_generation(object, template_generation(old));
  }
};

}  // namespace

void set_template_generation(Object& object, std::int64_t generation) {
  ObjectMeta(object).mutable_annotations()[kTemplateGeneration] = std::to_string(generation);
}

KindCode daemon_set_code(PodValidationOptions options) {
  return {.make = made<DaemonSetStrategy>(
              WorkloadFacts{.selector_kind = "daemonset", .selector_required = false, .without_deadline = "DaemonSet"}, options),
          .make_status = made_status<DaemonSetStatusStrategy>};
}

}  // namespace backplane::apps
