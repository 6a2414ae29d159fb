// PersistentVolumes and PersistentVolumeClaims.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/resource_names.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/resources.hpp"
#include "backplane/workload/volume_sources.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::string_view kAttributes = "volumeAttributesClassName";

void warn_of_term(const Value& term, const std::string& path, std::vector<std::string>& warnings) {
  warn_of_node_term(term.get_object(), false, path, warnings);
}

// The stable label that replaces a deprecated one.
std::string_view stable_label(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kLabels = {{
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
  }};
  const auto* row = std::find_if(kLabels.begin(), kLabels.end(), [&](const auto& each) { return each.first == key; });
  return row != kLabels.end() ? row->second : std::string_view();
}

// If a requirement uses the stable successor of the label in the old requirement at the same index, restores the old label. As upstream,
// also restores a key that was removed if the old label has no successor.
void follow_labels(Array& requirements, const Array& before) {
  for (std::size_t i = 0; i < requirements.size() && i < before.size(); ++i) {
    if (!requirements[i].is_object() || !before[i].is_object()) continue;
    Object& requirement = requirements[i].get_object();
    const std::string_view key = get_string(before[i].get_object(), "key");
    if (stable_label(key) == get_string(requirement, "key")) requirement["key"] = key;
  }
}

// Returns true if the affinities differ only in deprecated labels that became stable labels. Modifies `affinity`, which is a copy.
bool same_but_for_labels(Object affinity, const Object& before) {
  Value* required = find(affinity, "required");
  Value* terms = required != nullptr && required->is_object() ? find(required->get_object(), "nodeSelectorTerms") : nullptr;
  const Array* old_terms = get_array(object_or_empty(before, "required"), "nodeSelectorTerms");
  if (terms == nullptr || !terms->is_array() || old_terms == nullptr) return affinity == before;
  Array& list = terms->get_array();
  for (std::size_t i = 0; i < list.size() && i < old_terms->size(); ++i) {
    if (!list[i].is_object() || !(*old_terms)[i].is_object()) continue;
    for (const char* name : {"matchExpressions", "matchFields"}) {
      Value* requirements = find(list[i].get_object(), name);
      const Array* old_requirements = get_array((*old_terms)[i].get_object(), name);
      if (requirements != nullptr && requirements->is_array() && old_requirements != nullptr) {
        follow_labels(requirements->get_array(), *old_requirements);
      }
    }
  }
  return affinity == before;
}

// Returns true if `local` is set, and no other source that upstream checks first.
bool is_local(const Object& spec) {
  constexpr std::array<std::string_view, 6> kOther = {"capacity", "claimRef", "nodeAffinity", "local", "storageos", "csi"};
  return has(spec, "local") && std::none_of(spec.begin(), spec.end(), [&](const auto& member) {
           return member.value().is_object() && std::find(kOther.begin(), kOther.end(), member.key()) == kOther.end();
         });
}

// Forbids the annotation with mount options for kinds of volumes that do not support them.
void check_mount_options(const Object& volume, FieldErrors& errors) {
  constexpr std::array<std::string_view, 13> kMounted = {"gcePersistentDisk",
                                                         "awsElasticBlockStore",
                                                         "glusterfs",
                                                         "nfs",
                                                         "rbd",
                                                         "quobyte",
                                                         "iscsi",
                                                         "cinder",
                                                         "cephfs",
                                                         "azureFile",
                                                         "vsphereVolume",
                                                         "azureDisk",
                                                         "photonPersistentDisk"};
  constexpr std::string_view kOptions = "volume.beta.kubernetes.io/mount-options";
  const Object& spec = object_or_empty(volume, "spec");
  if (!object_or_empty(object_or_empty(volume, "metadata"), "annotations").contains(kOptions)) return;
  if (std::any_of(kMounted.begin(), kMounted.end(), [&](std::string_view kind) { return has(spec, kind); })) return;
  errors.forbidden("metadata.annotations." + std::string(kOptions), "may not specify mount options for this volume type");
}

// The strategy of volumes. A new volume has the phase Pending until a controller sets another phase.
class PersistentVolumeStrategy final : public KindStrategy {
 public:
  PersistentVolumeStrategy(KindFacts facts, bool mutable_node_affinity)
      : KindStrategy(std::move(facts)), mutable_node_affinity_(mutable_node_affinity) {}

 protected:
  void prepare_create(Object& object) const override {
    Object& status = ensure_object(object, "status");
    status["phase"] = "Pending";
    status["lastPhaseTransitionTime"] = now_rfc3339();
  }
  void check(const Object& object, FieldErrors& errors) const override {
    check_spec(object, errors);
    check_mount_options(object, errors);
  }
  static void check_spec(const Object& object, FieldErrors& errors) {
    const Object& spec = object_or_empty(object, "spec");
    validate_volume_source(spec, "spec", meta_name(object), errors);
    if (is_local(spec) && !has(spec, "nodeAffinity")) errors.required("spec.nodeAffinity", "Local volume requires node affinity");
    for (const auto& amount : object_or_empty(spec, "capacity")) {
      const std::string_view text = text_of(amount.value());
      if (compare_quantities(text, "0") >= 0) continue;
      errors.invalid(at_key("spec.capacity", amount.key()), static_cast<long long>(whole_units(text).value_or(0)),
                     "must be a valid resource quantity");
    }
    const std::string host_path(get_string(object_or_empty(spec, "hostPath"), "path"));
    if (std::filesystem::path(host_path).lexically_normal() == "/" && get_string(spec, "persistentVolumeReclaimPolicy") == "Recycle") {
      errors.forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'");
    }
    if (has(spec, "volumeAttributesClassName") && !has(spec, "csi")) {
      errors.required("spec.csi", "has to be specified when using volumeAttributesClassName");
    }
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    // Upstream runs this check twice on update, so its errors are reported twice.
    check_spec(object, errors);
    if (has(object_or_empty(old, "spec"), kAttributes) && !has(object_or_empty(object, "spec"), kAttributes)) {
      errors.forbidden(at("spec", kAttributes), "update from non-nil value to nil is forbidden");
    }
    const Object* before = get_object(object_or_empty(old, "spec"), "nodeAffinity");
    if (before == nullptr || mutable_node_affinity_) return;
    const Object* affinity = get_object(object_or_empty(object, "spec"), "nodeAffinity");
    if (affinity != nullptr && same_but_for_labels(*affinity, *before)) return;
    const Schema* type = core_schemas()->find("io.k8s.api.core.v1.VolumeNodeAffinity");
    errors.invalid_raw("nodeAffinity", affinity != nullptr ? to_json(type->go_struct(*affinity)) : "null",
                       "field is immutable, except for updating from beta label to GA");
  }

 private:
  const bool mutable_node_affinity_;
};

// The server sets the time of the last change of the phase.
class PersistentVolumeStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    constexpr std::string_view kTime = "lastPhaseTransitionTime";
    StatusStrategy::prepare_for_update(context, object, old);
    Object& status = ensure_object(object, "status");
    const Object& before = object_or_empty(old, "status");
    if (get_string(status, "phase") == get_string(before, "phase")) {
      if (!has(status, kTime)) take_member(status, before, kTime);
    } else if (!has(status, kTime) || same_member(status, before, kTime)) {
      status[kTime] = now_rfc3339();
    }
  }
};

// Accepts the resources that a claim's status may contain: "storage", and names with a domain.
bool check_claim_key(std::string_view name, const std::string& path, FieldErrors& errors) {
  const auto problems = is_qualified_name(name);
  for (const std::string& problem : problems) errors.invalid(path, name, problem);
  if (!problems.empty()) return false;
  if (!is_native_resource(name) || name == "storage") return true;
  errors.not_supported(path, name, {"storage"});
  return false;
}

void check_claim_amount(const Value& amount, const Path& path, FieldErrors& errors) {
  const std::string_view text = text_of(amount);
  if (compare_quantities(text, "0") < 0) errors.invalid_raw(path, text, "must be a valid resource quantity");
}

class PersistentVolumeClaimStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    static const std::vector<std::string> kResizes = {"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
                                                      "NodeResizeInfeasible", "NodeResizePending"};
    const Object& status = object_or_empty(object, "status");
    const Path path("status"), capacity = path.at("capacity"), allocated = path.at("allocatedResources");
    for (const auto& amount : object_or_empty(status, "capacity"))
      check_claim_amount(amount.value(), capacity.at_key(amount.key()), errors);
    for (const auto& resize : object_or_empty(status, "allocatedResourceStatuses")) {
      const std::string at = path.at("allocatedResourceStatuses");
      check_claim_key(resize.key(), at, errors);
      const bool known = std::find(kResizes.begin(), kResizes.end(), text_of(resize.value())) != kResizes.end();
      if (!known) errors.not_supported(at, resize.key(), kResizes);
    }
    for (const auto& amount : object_or_empty(status, "allocatedResources")) {
      if (check_claim_key(amount.key(), allocated, errors)) check_claim_amount(amount.value(), allocated.at_key(amount.key()), errors);
    }
  }
};

// The annotation that held the class of a claim before the field existed is immutable.
void check_class_annotation(const Object& claim, const Object& old, FieldErrors& errors) {
  constexpr std::string_view kClass = "volume.beta.kubernetes.io/storage-class";
  const auto class_of = [](const Object& object) {
    return get_string(object_or_empty(object_or_empty(object, "metadata"), "annotations"), kClass);
  };
  if (class_of(claim) == class_of(old)) return;
  // The field may replace the annotation.
  const bool removed = class_of(claim).empty() && !has(object_or_empty(old, "spec"), "storageClassName");
  if (removed && get_string_path(claim, "spec.storageClassName") == class_of(old)) return;
  errors.invalid("metadata.annotations." + std::string(kClass), class_of(claim), "field is immutable");
}

// The attributes class of a claim cannot be removed.
void check_attributes_change(const Object& claim, const Object& old, FieldErrors& errors) {
  const Object &spec = object_or_empty(claim, "spec"), &before = object_or_empty(old, "spec");
  if (same_member(spec, before, kAttributes) || !has(object_or_empty(old, "status"), "currentVolumeAttributesClassName")) return;
  if (!get_string(spec, kAttributes).empty()) return;
  const std::string_view what = has(spec, kAttributes) ? "empty string" : "nil";
  errors.forbidden(at("spec", kAttributes),
                   "update to " + std::string(what) + " is forbidden when status.currentVolumeAttributesClassName is not nil");
}

bool is_classic_source(const Object& source) {
  const std::string_view kind = get_string(source, "kind"), group = get_string(source, "apiGroup");
  return (kind == "PersistentVolumeClaim" && group.empty()) || (kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io");
}

class PersistentVolumeClaimStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override { prepare_update(object, {}); }
  // dataSource is the older field for dataSourceRef. If a request sets only one of the two fields, copies it to the other. There are two
  // exceptions. A dataSourceRef with a namespace is not copied, because dataSource has none. A dataSource of a kind that only dataSourceRef
  // supports is removed, unless the old claim has one of the fields.
  void prepare_update(Object& object, const Object& old) const override {
    Object& spec = ensure_object(object, "spec");
    const Object& before = object_or_empty(old, "spec");
    const Object source(object_or_empty(spec, "dataSource")), ref(object_or_empty(spec, "dataSourceRef"));
    const bool older = has(spec, "dataSource"), newer = has(spec, "dataSourceRef");
    if (older && !newer && !has(before, "dataSource") && !has(before, "dataSourceRef") && !is_classic_source(source)) {
      erase_member(spec, "dataSource");
    } else if (older && !newer) {
      spec["dataSourceRef"] = source;
    } else if (!older && newer && get_string(ref, "namespace").empty()) {
      spec["dataSource"] = ref;
    }
  }
  void check(const Object& object, FieldErrors& errors) const override {
    validate_claim_spec(object_or_empty(object, "spec"), "spec", errors);
  }
  // The storage request of an expanded claim may be reduced again, but must remain greater than the actual capacity.
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_class_annotation(object, old, errors);
    check_attributes_change(object, old, errors);
    constexpr std::string_view kAsked = "spec.resources.requests.storage";
    const std::string_view asks = get_string_path(object, kAsked);
    if (compare_quantities(asks, get_string_path(old, kAsked)) >= 0) return;
    if (compare_quantities(asks, get_string_path(old, "status.capacity.storage")) > 0) return;
    errors.forbidden(std::string(kAsked), "field can not be less than status.capacity");
  }
};

}  // namespace

void add_volumes_and_claims(GroupCode& code, bool mutable_node_affinity) {
  code.kinds["PersistentVolume"] = {.make = made<PersistentVolumeStrategy>(mutable_node_affinity),
                                    .make_status = made_status<PersistentVolumeStatusStrategy>};
  code.kinds["PersistentVolumeClaim"] = {.make = made<PersistentVolumeClaimStrategy>(),
                                         .make_status = made_status<PersistentVolumeClaimStatusStrategy>};
  code.warnings.emplace("nodeTerm", warn_of_term);
}

}  // namespace backplane::core
