// PersistentVolumes and PersistentVolumeClaims.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/kinds.hpp"
#include "printing/go_struct.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

void print_phase(const Object& object, std::int64_t, Array& cells) {
  const bool deleting = !meta_text(object, "deletionTimestamp").empty();
  const std::string_view phase = get_string_path(object, "status.phase");
  const std::string_view unknown = get_string(object, "kind") == "PersistentVolume" ? "Unknown" : "";
  cells.emplace_back(deleting ? "Terminating" : phase.empty() ? unknown : phase);
}

void print_bound(const Object& claim, std::int64_t, Array& cells) {
  const Object& status = object_or_empty(claim, "status");
  const bool bound = !get_string_path(claim, "spec.volumeName").empty();
  const Value* storage = find_path(status, "capacity.storage");
  cells.push_back(!bound ? Value("") : storage != nullptr ? *storage : Value("0"));
  cells.push_back(Value(bound ? print_access_modes(get_array(status, "accessModes")) : ""));
}

void warn_of_term(const Value& term, const std::string& path, std::vector<std::string>& warnings) {
  warn_of_node_term(term.get_object(), false, path, warnings);
}

// Not in the schema: upstream says it behind what its update rules say of the spec.
void check_mode_change(const Object& spec, const Object& before, FieldErrors& errors) {
  if (same_member(spec, before, "volumeMode")) return;
  const Value* mode = find(spec, "volumeMode");
  errors.invalid_raw("volumeMode", mode != nullptr ? to_json(*mode) : "null", "field is immutable");
}

class PersistentVolumeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override {
    Object& status = ensure_object(object, "status");
    status["phase"] = "Pending";
    status["lastPhaseTransitionTime"] = now_rfc3339();
  }
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object& amounts = object_or_empty(spec, "capacity");
    if (!amounts.contains("storage") || amounts.size() > 1) {
      errors.add({FieldErrorType::kNotSupported, "spec.capacity",
                  "Unsupported value: " + (has(spec, "capacity") ? to_json(amounts) : "null") + ": supported values: \"storage\""});
    }
    if (const Object* required = get_object(object_or_empty(spec, "nodeAffinity"), "required")) {
      validate_node_selector_terms(*required, "spec.nodeAffinity.required", errors);
    }
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object& before = object_or_empty(old, "spec");
    check_source_change(spec, before, errors);
    check_mode_change(spec, before, errors);
    if (has(before, "nodeAffinity") && !same_member(spec, before, "nodeAffinity")) {
      const Object* affinity = get_object(spec, "nodeAffinity");
      errors.invalid_raw("nodeAffinity", affinity ? to_json(go_struct("VolumeNodeAffinity", *affinity)) : "null",
                         "field is immutable, except for updating from beta label to GA");
    }
    check(object, errors);  // upstream's update rules hold the create rules once more
  }

 private:
  // Where the data lies never changes; a secret for growing may be named later.
  static void check_source_change(const Object& spec, const Object& before, FieldErrors& errors) {
    constexpr std::string_view kExpandSecret = "controllerExpandSecretRef";
    Object now(spec);
    Object* csi = mutable_object(now, "csi");
    if (csi != nullptr && get_object(before, "csi") != nullptr && !has(*get_object(before, "csi"), kExpandSecret)) {
      erase_member(*csi, kExpandSecret);
    }
    const auto difference = struct_difference("PersistentVolumeSource", before, now);
    if (!difference) return;
    errors.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation\n" + *difference);
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
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    Object now(object_or_empty(object, "spec"));
    Object before(object_or_empty(old, "spec"));
    normalize_source(before);  // stored, perhaps, before there were two forms
    // Claims are bound by writing the volume's name, and may grow while they are.
    if (get_string(before, "volumeName").empty()) take_member(before, now, "volumeName");
    if (get_string_path(old, "status.phase") == "Bound") {
      Object* resources = mutable_object(now, "resources");
      Object* requests = resources != nullptr ? mutable_object(*resources, "requests") : nullptr;
      if (requests != nullptr) take_member(*requests, object_or_empty(object_or_empty(before, "resources"), "requests"), "storage");
      take_member(now, before, "volumeAttributesClassName");
    }
    if (const auto difference = struct_difference("PersistentVolumeClaimSpec", before, now)) {
      errors.forbidden(
          "spec",
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n" + *difference);
    }
    check_mode_change(object_or_empty(object, "spec"), object_or_empty(old, "spec"), errors);
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
  code.printers.insert({{"volumePhase", print_phase}, {"boundVolume", print_bound}});
  code.warnings.emplace("nodeTerm", warn_of_term);
}

}  // namespace backplane::core
