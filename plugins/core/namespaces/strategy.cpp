// Namespaces: held by spec.finalizers until their contents are gone.
#include <algorithm>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::string_view kFinalizer = "kubernetes";
constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

void set_name_label(Object& object) {
  const std::string name(meta_name(object));
  if (!name.empty()) ObjectMeta(object).mutable_labels()[kNameLabel] = name;
}

bool held(const Object& object) {
  const Array* finalizers = get_array(object_or_empty(object, "spec"), "finalizers");
  return finalizers != nullptr && !finalizers->empty();
}

void check_finalizers(const Object& object, FieldErrors& errors) {
  const Array* finalizers = get_array(object_or_empty(object, "spec"), "finalizers");
  if (finalizers == nullptr) return;
  for (std::size_t i = 0; i < finalizers->size(); ++i) {
    const std::string_view name = text_of((*finalizers)[i]);
    const std::string path = at("spec.finalizers", i);
    add_problems(is_qualified_name(name), path, name, errors);
    if (name.find('/') == std::string_view::npos && name != kFinalizer && name != "orphan" && name != "foregroundDeletion") {
      errors.invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

class NamespaceStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override { set_name_label(object); }
  bool held_by_other_finalizers(const Object& object) const override { return held(object); }
  void mark_deleting(Object& object) const override { ensure_object(object, "status")["phase"] = "Terminating"; }

 protected:
  void prepare_create(Object& object) const override {
    Object& status = object["status"].emplace_object();
    status["phase"] = "Active";
    Array& finalizers = ensure_array(ensure_object(object, "spec"), "finalizers");
    const bool there = std::any_of(finalizers.begin(), finalizers.end(), [](const Value& name) { return text_of(name) == kFinalizer; });
    if (!there) finalizers.emplace_back(kFinalizer);
  }
  void prepare_update(Object& object, const Object& old) const override {
    take_member(ensure_object(object, "spec"), object_or_empty(old, "spec"), "finalizers");
    take_member(object, old, "status");
  }
  void check(const Object& object, FieldErrors& errors) const override { check_finalizers(object, errors); }
};

class NamespaceStatusStrategy final : public StatusStrategy {
 public:
  explicit NamespaceStatusStrategy(std::shared_ptr<const Strategy> parent) : StatusStrategy(std::move(parent)) {}
  bool held_by_other_finalizers(const Object& object) const override { return held(object); }

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const std::string_view phase = get_string_path(object, "status.phase");
    const bool deleting = !meta_text(object, "deletionTimestamp").empty();
    if (deleting && phase != "Terminating") {
      errors.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
    } else if (!deleting && phase != "Active") {
      errors.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty");
    }
  }
};

// PUT /finalize: spec.finalizers may change, the status may not; when the last one has gone, so has the namespace.
class NamespaceFinalizeStrategy final : public KindStrategy {
 public:
  NamespaceFinalizeStrategy() : KindStrategy({.namespaced = false, .name_rule = NameRule::kDnsLabel}) {}
  void apply_defaults(Object& object) const override { set_name_label(object); }
  bool held_by_other_finalizers(const Object& object) const override { return held(object); }

 protected:
  void prepare_update(Object& object, const Object& old) const override { take_member(object, old, "status"); }
  void check(const Object& object, FieldErrors& errors) const override { check_finalizers(object, errors); }
};

}  // namespace

KindRow namespace_row() {
  return {.resource = "namespaces",
          .kind = "Namespace",
          .short_names = {"ns"},
          .facts = {.namespaced = false,
                    .name_rule = NameRule::kDnsLabel,
                    .rechecks_metadata = true,
                    .selectable = {{"status.phase", "status.phase", ""}},
                    .columns = {name_column(), text_column("Status", "Active or Terminating.", ".status.phase"), age_column()}},
          .make = made<NamespaceStrategy>(),
          .make_status = made_status<NamespaceStatusStrategy>};
}

std::shared_ptr<const Strategy> namespace_finalize_strategy() { return std::make_shared<NamespaceFinalizeStrategy>(); }

}  // namespace backplane::core
