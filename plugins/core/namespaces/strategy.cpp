// Namespaces: spec.finalizers retain them until they are empty.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/names.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::string_view kFinalizer = "kubernetes";
constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

void set_name_label(Object& object) {
  const std::string name(meta_name(object));
  if (!name.empty()) ObjectMeta(object).mutable_labels()[kNameLabel] = name;
}

// If `indexed`, an error has the path of the item, otherwise the path of the list.
void check_finalizers(const Object& object, bool indexed, FieldErrors& errors) {
  const std::string path = "spec.finalizers";
  const auto names = texts_of(object_or_empty(object, "spec"), "finalizers");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string place = indexed ? at(path, i) : path;
    for (const std::string& problem : is_qualified_name(names[i])) errors.invalid(place, names[i], problem);
    if (names[i].find('/') != std::string::npos || names[i] == kFinalizer || names[i] == "orphan" || names[i] == "foregroundDeletion")
      continue;
    errors.invalid(place, names[i], "name is neither a standard finalizer name nor is it fully qualified");
  }
}

bool held(const Object& object) { return count_of(object_or_empty(object, "spec"), "finalizers") > 0; }

class NamespaceStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override { set_name_label(object); }
  // Sets the label again, because a generated name is set after apply_defaults().
  void canonicalize(Object& object) const override { set_name_label(object); }
  bool held_by_other_finalizers(const Object& object) const override { return held(object); }
  void mark_deleting(Object& object) const override { ensure_object(object, "status")["phase"] = "Terminating"; }

 protected:
  void prepare_create(Object& object) const override {
    const auto finalizers = texts_of(object_or_empty(object, "spec"), "finalizers");
    if (std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end()) return;
    ensure_array(ensure_object(object, "spec"), "finalizers").emplace_back(kFinalizer);
  }
  void check_new(const Object& object, FieldErrors& errors) const override { check_finalizers(object, false, errors); }
  void prepare_update(Object& object, const Object& old) const override {
    take_member(ensure_object(object, "spec"), object_or_empty(old, "spec"), "finalizers");
  }
};

class NamespaceStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  bool held_by_other_finalizers(const Object& object) const override { return held(object); }
};

// PUT /finalize: spec.finalizers may change, the status may not. Without finalizers the namespace is removed.
class NamespaceFinalizeStrategy final : public KindStrategy {
 public:
  NamespaceFinalizeStrategy() : KindStrategy({.namespaced = false, .name_rule = NameRule::kDnsLabel}) {}
  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = {"status"}}; }
  void apply_defaults(Object& object) const override { set_name_label(object); }
  // Sets the label again, because a generated name is set after apply_defaults().
  void canonicalize(Object& object) const override { set_name_label(object); }
  bool held_by_other_finalizers(const Object& object) const override { return held(object); }

 protected:
  void prepare_update(Object& object, const Object& old) const override { take_member(object, old, "status"); }
  void check(const Object& object, FieldErrors& errors) const override { check_finalizers(object, true, errors); }
};

}  // namespace

std::shared_ptr<const Strategy> namespace_finalize_strategy() { return std::make_shared<NamespaceFinalizeStrategy>(); }

void add_namespaces(GroupCode& code) {
  code.kinds["Namespace"] = {.make = made<NamespaceStrategy>(), .make_status = made_status<NamespaceStatusStrategy>};
}

}  // namespace backplane::core
