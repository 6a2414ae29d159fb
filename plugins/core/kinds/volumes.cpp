// PersistentVolumes and PersistentVolumeClaims.
#include <algorithm>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/resources.hpp"
#include "backplane/workload/warnings.hpp"
#include "kinds/strategies.hpp"
#include "printing/go_struct.hpp"

namespace backplane::core {
namespace {

using namespace kit;
using namespace workload;

constexpr std::string_view kSpecMembers[] = {
    "capacity",     "accessModes", "claimRef",     "persistentVolumeReclaimPolicy", "storageClassName",
    "mountOptions", "volumeMode",  "nodeAffinity", "volumeAttributesClassName"};
const std::vector<std::string> kAccessModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};

std::string text_or(std::string_view text, const char* otherwise) { return text.empty() ? otherwise : std::string(text); }

std::string storage_class(const Object& object) {
  const Value* old = find_path(object, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  return std::string(old ? text_of(*old) : get_string_path(object, "spec.storageClassName"));
}

void print_volume(const Object& volume, std::int64_t now, Array& cells) {
  const Object& spec = object_or_empty(volume, "spec");
  const Object& claim = object_or_empty(spec, "claimRef");
  std::string phase = text_or(get_string_path(volume, "status.phase"), "Unknown");
  if (!meta_text(volume, "deletionTimestamp").empty()) phase = "Terminating";
  cells.emplace_back(meta_name(volume));
  cells.emplace_back(text_or(get_string_path(spec, "capacity.storage"), "0"));
  cells.emplace_back(print_access_modes(get_array(spec, "accessModes")));
  cells.emplace_back(get_string(spec, "persistentVolumeReclaimPolicy"));
  cells.emplace_back(phase);
  cells.emplace_back(claim.empty() ? "" : std::string(get_string(claim, "namespace")) + "/" + std::string(get_string(claim, "name")));
  cells.emplace_back(storage_class(volume));
  cells.emplace_back(text_or(get_string(spec, "volumeAttributesClassName"), "<unset>"));
  cells.emplace_back(get_string_path(volume, "status.reason"));
  cells.emplace_back(age_of(volume, now));
  cells.emplace_back(text_or(get_string(spec, "volumeMode"), "<unset>"));
}

struct DeprecatedMember {
  std::string_view name;
  std::string_view message;
};
constexpr DeprecatedMember kOldAnnotations[] = {
    {"volume.beta.kubernetes.io/storage-class", "deprecated since v1.8; use \"storageClassName\" attribute instead"},
    {"volume.beta.kubernetes.io/mount-options", "deprecated since v1.31; use \"mountOptions\" attribute instead"},
};
constexpr DeprecatedMember kOldSources[] = {
    {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
    {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
    {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
};

// The text that upstream writes a source's field with.
std::string shown_source(std::string_view name) { return name == "storageos" ? "spec.storageOS" : "spec." + std::string(name); }

Warnings volume_warnings(const Object& volume) {
  Warnings out;
  const Object& spec = object_or_empty(volume, "spec");
  const Object& annotations = object_or_empty(object_or_empty(volume, "metadata"), "annotations");
  for (const DeprecatedMember& row : kOldAnnotations) {
    if (annotations.contains(row.name)) out.push_back(at_key("metadata.annotations", row.name) + ": " + std::string(row.message));
  }
  if (get_string(spec, "persistentVolumeReclaimPolicy") == "Recycle") {
    out.emplace_back(
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic "
        "provisioning.");
  }
  each(object_or_empty(object_or_empty(spec, "nodeAffinity"), "required"), "nodeSelectorTerms", [&](const Object& term, std::size_t i) {
    warn_of_node_term(term, false, at("spec.nodeAffinity.required.nodeSelectorTerms", i), out);
  });
  for (const DeprecatedMember& row : kOldSources) {
    if (has(spec, row.name)) out.push_back(shown_source(row.name) + ": " + std::string(row.message));
  }
  return out;
}

class PersistentVolumeStrategy final : public KindStrategy {
 public:
  bool namespaced() const override { return false; }
  bool has_status() const override { return true; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        {name_column(), text_column("Capacity", "Size of the volume."), text_column("Access Modes", "Ways it can be mounted."),
         text_column("Reclaim Policy", "What becomes of it when its claim goes."), text_column("Status", "Phase of the volume."),
         text_column("Claim", "The claim it is bound to."), text_column("StorageClass", "Its storage class."),
         text_column("VolumeAttributesClass", "Its attributes class."), text_column("Reason", "Why it is in this phase."), age_column(),
         text_column("VolumeMode", "Filesystem or block device.", 1)},
        print_volume);
    return table;
  }
  std::vector<std::string> warnings(const Object& object, const Object*) const override { return volume_warnings(object); }
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    fill(ensure_object(object, "status"), "phase", "Pending");
    fill(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill_missing(spec, "volumeMode", "Filesystem");
    if (Object* capacity = mutable_object(spec, "capacity")) round_resource_list(*capacity);
    if (Object* host_path = mutable_object(spec, "hostPath")) fill_missing(*host_path, "type", "");
  }

 protected:
  bool rechecks_metadata() const override { return true; }
  bool rechecks_metadata_change() const override { return false; }
  void prepare_create(Object& object) const override {
    Object& status = ensure_object(object, "status");
    status["phase"] = "Pending";
    status["lastPhaseTransitionTime"] = now_rfc3339();
  }
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    check_access_modes(spec, errors);
    check_capacity(spec, errors);
    check_source(spec, errors);
    if (const std::string_view name = get_string(spec, "storageClassName"); !name.empty()) {
      add_problems(is_dns1123_subdomain(name), "spec.storageClassName", name, errors);
    }
    if (!get_string(spec, "persistentVolumeReclaimPolicy").empty()) {
      check_one_of(spec, "persistentVolumeReclaimPolicy", "spec", {"Delete", "Recycle", "Retain"}, errors);
    }
    check_one_of(spec, "volumeMode", "spec", {"Block", "Filesystem"}, errors);
    if (const Object* affinity = get_object(spec, "nodeAffinity")) {
      const Object* required = get_object(*affinity, "required");
      if (required == nullptr)
        errors.required("spec.nodeAffinity.required", "must specify required node constraints");
      else
        validate_node_selector_terms(*required, "spec.nodeAffinity.required", errors);
    }
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object& before = object_or_empty(old, "spec");
    check_source_change(spec, before, errors);
    check_immutable(find(spec, "volumeMode"), find(before, "volumeMode"), "volumeMode", errors);
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
  static void check_access_modes(const Object& spec, FieldErrors& errors) {
    const Array* modes = get_array(spec, "accessModes");
    if (modes == nullptr || modes->empty()) {
      errors.required("spec.accessModes");
      return;
    }
    for (const Value& mode : *modes) {
      const std::string text(text_of(mode));
      if (std::find(kAccessModes.begin(), kAccessModes.end(), text) == kAccessModes.end()) {
        errors.not_supported("spec.accessModes", text, kAccessModes);
      }
    }
  }
  static void check_capacity(const Object& spec, FieldErrors& errors) {
    const Value* capacity = find(spec, "capacity");
    const Object& amounts = object_or_empty(spec, "capacity");
    if (amounts.empty()) errors.required("spec.capacity");
    if (!amounts.contains("storage") || amounts.size() > 1) {
      errors.add({FieldErrorType::kNotSupported, "spec.capacity",
                  "Unsupported value: " + (capacity ? to_json(*capacity) : "null") + ": supported values: \"storage\""});
    }
    for (const auto& amount : amounts) {
      if (compare_quantities(text_of(amount.value()), "0") <= 0) {
        errors.invalid(at_key("spec.capacity", amount.key()), text_of(amount.value()), "must be greater than zero");
      }
    }
  }
  static void check_source(const Object& spec, FieldErrors& errors) {
    int sources = 0;
    for (const auto& member : spec) {
      const std::string_view key = member.key();
      if (std::find(std::begin(kSpecMembers), std::end(kSpecMembers), key) != std::end(kSpecMembers) || !member.value().is_object())
        continue;
      if (++sources > 1) errors.forbidden(at("spec", key), "may not specify more than 1 volume type");
    }
    if (sources == 0) errors.required("spec", "must specify a volume type");
    if (const Object* nfs = get_object(spec, "nfs")) {
      check_required(*nfs, "server", "spec.nfs", errors);
      check_required(*nfs, "path", "spec.nfs", errors);
      const std::string_view path = get_string(*nfs, "path");
      if (!path.starts_with('/')) errors.invalid("spec.nfs.path", path, "must be an absolute path");
    }
    if (const Object* host = get_object(spec, "hostPath")) check_required(*host, "path", "spec.hostPath", errors);
    if (const Object* csi = get_object(spec, "csi")) check_csi(*csi, errors);
  }
  static void check_csi(const Object& csi, FieldErrors& errors) {
    validate_csi_driver_name(get_string(csi, "driver"), "spec.csi.driver", errors);
    check_required(csi, "volumeHandle", "spec.csi", errors);
    for (std::string_view key :
         {"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"}) {
      const Object* ref = get_object(csi, key);
      if (ref == nullptr) continue;
      const std::string path = at("spec.csi", key);
      const std::string_view name = get_string(*ref, "name"), ns = get_string(*ref, "namespace");
      if (name.empty())
        errors.required(at(path, "name"));
      else
        add_problems(is_dns1123_subdomain(name), at(path, "name"), name, errors);
      if (ns.empty())
        errors.required(at(path, "namespace"));
      else
        add_problems(is_dns1123_label(ns), at(path, "namespace"), ns, errors);
    }
  }
};

void print_claim(const Object& claim, std::int64_t now, Array& cells) {
  const Object& spec = object_or_empty(claim, "spec");
  std::string phase(get_string_path(claim, "status.phase"));
  if (!meta_text(claim, "deletionTimestamp").empty()) phase = "Terminating";
  std::string capacity, modes;
  if (!get_string(spec, "volumeName").empty()) {
    capacity = text_or(get_string_path(claim, "status.capacity.storage"), "0");
    modes = print_access_modes(get_array(object_or_empty(claim, "status"), "accessModes"));
  }
  cells.emplace_back(meta_name(claim));
  cells.emplace_back(phase);
  cells.emplace_back(get_string(spec, "volumeName"));
  cells.emplace_back(capacity);
  cells.emplace_back(modes);
  cells.emplace_back(storage_class(claim));
  cells.emplace_back(text_or(get_string(spec, "volumeAttributesClassName"), "<unset>"));
  cells.emplace_back(age_of(claim, now));
  cells.emplace_back(text_or(get_string(spec, "volumeMode"), "<unset>"));
}

class PersistentVolumeClaimStrategy final : public KindStrategy {
 public:
  bool has_status() const override { return true; }
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table(
        {name_column(), text_column("Status", "Phase of the claim."), text_column("Volume", "The volume it is bound to."),
         text_column("Capacity", "Size of that volume."), text_column("Access Modes", "Ways that volume can be mounted."),
         text_column("StorageClass", "Storage class that is asked for."),
         text_column("VolumeAttributesClass", "Attributes class that is asked for."), age_column(),
         text_column("VolumeMode", "Filesystem or block device.", 1)},
        print_claim);
    return table;
  }
  std::vector<std::string> warnings(const Object& object, const Object*) const override {
    Warnings out;
    const Object& annotations = object_or_empty(object_or_empty(object, "metadata"), "annotations");
    const DeprecatedMember& row = kOldAnnotations[0];
    if (annotations.contains(row.name)) out.push_back(at_key("metadata.annotations", row.name) + ": " + std::string(row.message));
    warn_of_claim_spec(object_or_empty(object, "spec"), "spec", out);
    return out;
  }
  void apply_defaults(Object& object) const override {
    fill(ensure_object(object, "status"), "phase", "Pending");
    apply_claim_spec_defaults(ensure_object(object, "spec"));
  }

 protected:
  bool rechecks_metadata() const override { return true; }
  void prepare_create(Object& object) const override {
    ensure_object(object, "status")["phase"] = "Pending";
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
    const Object& spec = object_or_empty(object, "spec");
    validate_claim_spec(spec, "spec", errors);
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
    const Object* source = get_object(spec, "dataSource");
    const Object* ref = get_object(spec, "dataSourceRef");
    if (source != nullptr && ref == nullptr) {
      const Object copy(*source);
      spec["dataSourceRef"] = copy;
    } else if (source == nullptr && ref != nullptr && get_string(*ref, "namespace").empty()) {
      const Object copy(*ref);
      spec["dataSource"] = copy;
    }
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
    check_immutable(find(object_or_empty(object, "spec"), "volumeMode"), find(object_or_empty(old, "spec"), "volumeMode"), "volumeMode",
                    errors);
    const Value* held = find_path(old, {"status", "capacity", "storage"});
    const Value* asked = find_path(object, {"spec", "resources", "requests", "storage"});
    const Value* asked_before = find_path(old, {"spec", "resources", "requests", "storage"});
    const std::string_view now_asks = asked ? text_of(*asked) : "0", before_asked = asked_before ? text_of(*asked_before) : "0";
    if (compare_quantities(now_asks, before_asked) < 0 && compare_quantities(now_asks, held ? text_of(*held) : "0") <= 0) {
      errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
    }
  }
};

}  // namespace

std::shared_ptr<const Strategy> persistent_volume_strategy() { return std::make_shared<PersistentVolumeStrategy>(); }
std::shared_ptr<const Strategy> persistent_volume_claim_strategy() { return std::make_shared<PersistentVolumeClaimStrategy>(); }

}  // namespace backplane::core
