// PersistentVolumes and PersistentVolumeClaims.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

void warn_of_term(const Value& term, const std::string& path, std::vector<std::string>& warnings) {
  warn_of_node_term(term.get_object(), false, path, warnings);
}

// What a new volume is, until a controller says otherwise.
class PersistentVolumeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override {
    Object& status = ensure_object(object, "status");
    status["phase"] = "Pending";
    status["lastPhaseTransitionTime"] = now_rfc3339();
  }
};

class PersistentVolumeClaimStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    drop_unknown_source(spec);
    normalize_source(spec);
  }
  // Old clients leave out the newer of the two names, or both forms of a source that was garbage on create, too.
  void prepare_update(Object& object, const Object& old) const override {
    Object& spec = ensure_object(object, "spec");
    const Object& before = object_or_empty(old, "spec");
    if (!has(before, "dataSource") && !has(before, "dataSourceRef")) drop_unknown_source(spec);
    normalize_source(spec);
  }
  void check(const Object& object, FieldErrors& errors) const override {
    validate_claim_spec(object_or_empty(object, "spec"), "spec", errors);
  }
  static bool is_classic_source(const Object& source) {
    const std::string_view kind = get_string(source, "kind"), group = get_string(source, "apiGroup");
    return (kind == "PersistentVolumeClaim" && group.empty()) || (kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io");
  }
  // Of kinds that are new the older form cannot speak: it is dropped.
  static void drop_unknown_source(Object& spec) {
    const Object* source = get_object(spec, "dataSource");
    if (source != nullptr && !has(spec, "dataSourceRef") && !is_classic_source(*source)) erase_member(spec, "dataSource");
  }
  // dataSource is the older form of dataSourceRef: both say the same where the older can.
  static void normalize_source(Object& spec) {
    const Object source(object_or_empty(spec, "dataSource")), ref(object_or_empty(spec, "dataSourceRef"));
    if (has(spec, "dataSource") && !has(spec, "dataSourceRef")) spec["dataSourceRef"] = source;
    if (!has(spec, "dataSource") && has(spec, "dataSourceRef") && get_string(ref, "namespace").empty()) spec["dataSource"] = ref;
  }
  // A claim that has grown can be asked for less again, as long as that is more than there is.
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const auto amount = [](const Object& claim, std::initializer_list<std::string_view> path) {
      const Value* found = find_path(claim, path);
      return found != nullptr ? text_of(*found) : std::string_view("0");
    };
    const std::string_view asks = amount(object, {"spec", "resources", "requests", "storage"});
    const std::string_view asked = amount(old, {"spec", "resources", "requests", "storage"});
    if (compare_quantities(asks, asked) < 0 && compare_quantities(asks, amount(old, {"status", "capacity", "storage"})) <= 0) {
      errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
    }
  }
};

}  // namespace

void add_volumes_and_claims(GroupCode& code) {
  code.kinds["PersistentVolume"] = {.make = made<PersistentVolumeStrategy>()};
  code.kinds["PersistentVolumeClaim"] = {.make = made<PersistentVolumeClaimStrategy>()};
  code.warnings.emplace("nodeTerm", warn_of_term);
}

}  // namespace backplane::core
