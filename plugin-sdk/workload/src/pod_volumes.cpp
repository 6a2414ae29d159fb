// Volumes of a pod.
#include <algorithm>

#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::size_t kMaxDriverName = 63;
constexpr std::int64_t kMinTokenSeconds = 600;
const std::set<std::string> kVolumeFields = {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
                                             "metadata.uid"};

void check_mode_and_items(const Object& source, const std::string& path, FieldErrors& errors) {
  check_file_mode(source, "defaultMode", path, errors);
  each(source, "items", [&](const Object& item, std::size_t i) {
    const std::string where = at(at(path, "items"), i);
    check_required(item, "key", where, errors);
    check_required(item, "path", where, errors);
    const std::string_view file = get_string(item, "path");
    if (file.starts_with('/')) errors.invalid(at(where, "path"), file, "must be a relative path");
    if (file == ".." || file.starts_with("../") || file.find("/../") != std::string_view::npos || file.ends_with("/..")) {
      errors.invalid(at(where, "path"), file, "must not contain '..'");
    }
    check_file_mode(item, "mode", where, errors);
  });
}

void validate_downward_item(const Object& item, const std::string& path, FieldErrors& errors) {
  if (get_string(item, "path").empty()) errors.required(at(path, "path"));
  check_file_mode(item, "mode", path, errors);
  const bool field = has(item, "fieldRef"), resource = has(item, "resourceFieldRef");
  if (!field && !resource) {
    errors.required(path, "one of fieldRef and resourceFieldRef is required");
    return;
  }
  if (field) validate_field_ref(item, path, kVolumeFields, errors);
  if (field && resource) {
    errors.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
  } else if (const Object* ref = get_object(item, "resourceFieldRef")) {
    validate_resource_field_ref(*ref, at(path, "resourceFieldRef"), true, errors);
  }
}

void validate_config_map(const Object& source, const std::string& path, FieldErrors& errors) {
  check_required(source, "name", path, errors);
  check_mode_and_items(source, path, errors);
}
void validate_secret(const Object& source, const std::string& path, FieldErrors& errors) {
  check_required(source, "secretName", path, errors);
  check_mode_and_items(source, path, errors);
}
void validate_host_path(const Object& source, const std::string& path, FieldErrors& errors) {
  check_required(source, "path", path, errors);
  check_one_of(source, "type", path, {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"},
               errors);
}
void validate_empty_dir(const Object& source, const std::string& path, FieldErrors& errors) {
  const std::string_view limit = get_string(source, "sizeLimit");
  if (!limit.empty() && compare_quantities(limit, "0") < 0) {
    errors.forbidden(at(path, "sizeLimit"), "SizeLimit field must be a valid resource quantity");
  }
}
void validate_claim(const Object& source, const std::string& path, FieldErrors& errors) {
  check_required(source, "claimName", path, errors);
}
void validate_nfs(const Object& source, const std::string& path, FieldErrors& errors) {
  check_required(source, "server", path, errors);
  check_required(source, "path", path, errors);
  const std::string_view target = get_string(source, "path");
  if (!target.starts_with('/')) errors.invalid(at(path, "path"), target, "must be an absolute path");
}
void validate_csi(const Object& source, const std::string& path, FieldErrors& errors) {
  validate_csi_driver_name(get_string(source, "driver"), at(path, "driver"), errors);
}
void validate_downward(const Object& source, const std::string& path, FieldErrors& errors) {
  check_file_mode(source, "defaultMode", path, errors);
  each(source, "items", [&](const Object& item, std::size_t) { validate_downward_item(item, path, errors); });
}
void validate_ephemeral(const Object& source, const std::string& path, FieldErrors& errors) {
  const Object* claim = get_object(source, "volumeClaimTemplate");
  if (claim == nullptr) {
    errors.required(at(path, "volumeClaimTemplate"));
    return;
  }
  validate_claim_spec(object_or_empty(*claim, "spec"), at(at(path, "volumeClaimTemplate"), "spec"), errors);
}

// Files of all sources lie in one directory.
void validate_projected_paths(const Object& source, const std::string& path, FieldErrors& errors) {
  std::set<std::string> paths;
  each(source, "sources", [&](const Object& each_source, std::size_t) {
    for (std::string_view kind : {"secret", "configMap", "downwardAPI"}) {
      const Object& part = object_or_empty(each_source, kind);
      each(part, "items", [&](const Object& item, std::size_t) {
        const std::string_view target = get_string(item, "path");
        if (target.empty() || paths.emplace(target).second) return;
        errors.invalid(path, kind == "downwardAPI" ? target : get_string(part, "name"), "conflicting duplicate paths");
      });
    }
  });
}

void validate_projected(const Object& source, const std::string& path, FieldErrors& errors) {
  check_file_mode(source, "defaultMode", path, errors);
  each(source, "sources", [&](const Object& each_source, std::size_t i) {
    const std::string item = at(at(path, "sources"), i);
    for (std::string_view kind : {"secret", "configMap"}) {
      const Object* ref = get_object(each_source, kind);
      if (ref == nullptr) continue;
      check_required(*ref, "name", at(item, kind), errors);
      check_mode_and_items(*ref, at(item, kind), errors);
    }
    if (const Object* downward = get_object(each_source, "downwardAPI")) {
      each(*downward, "items", [&](const Object& entry, std::size_t) { validate_downward_item(entry, at(item, "downwardAPI"), errors); });
    }
    if (const Object* token = get_object(each_source, "serviceAccountToken")) {
      const std::int64_t seconds = get_int(*token, "expirationSeconds").value_or(0);
      const std::string where = at(at(item, "serviceAccountToken"), "expirationSeconds");
      if (seconds < kMinTokenSeconds)
        errors.invalid(where, static_cast<long long>(seconds), "may not specify a duration less than 10 minutes");
      if (seconds > (std::int64_t{1} << 32))
        errors.invalid(where, static_cast<long long>(seconds), "may not specify a duration larger than 2^32 seconds");
      if (get_string(*token, "path").empty()) errors.required(at(path, "path"));
    }
  });
  validate_projected_paths(source, path, errors);
}

// What a claim is filled from, in its older or its newer form.
void validate_data_source(const Object& source, const std::string& path, FieldErrors& errors) {
  check_required(source, "name", path, errors);
  check_required(source, "kind", path, errors);
  const std::string_view group = get_string(source, "apiGroup"), kind = get_string(source, "kind");
  if (group.empty() && kind != "PersistentVolumeClaim") {
    errors.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (!group.empty()) add_problems(is_dns1123_subdomain(group), at(path, "apiGroup"), group, errors);
  if (const std::string_view ns = get_string(source, "namespace"); !ns.empty()) {
    add_problems(is_dns1123_label(ns), at(path, "namespace"), ns, errors);
  }
}

void validate_data_sources(const Object& claim_spec, const std::string& path, FieldErrors& errors) {
  const Object* source = get_object(claim_spec, "dataSource");
  const Object* ref = get_object(claim_spec, "dataSourceRef");
  if (source != nullptr) validate_data_source(*source, at(path, "dataSource"), errors);
  if (ref != nullptr) validate_data_source(*ref, at(path, "dataSourceRef"), errors);
  if (source == nullptr || ref == nullptr) return;
  // The value is a field path there, of which nothing is printed.
  if (!get_string(*ref, "namespace").empty()) {
    errors.invalid_raw(path, "{}", "may not be specified when dataSourceRef.namespace is specified");
    return;
  }
  const auto same = [&](std::string_view key) {
    return get_string(*source, key) == get_string(*ref, key) && has(*source, key) == has(*ref, key);
  };
  if (!same("apiGroup") || !same("kind") || !same("name")) errors.invalid_raw(path, "{}", "must match dataSourceRef");
}

struct SourceRow {
  std::string_view key;
  void (*validate)(const Object&, const std::string&, FieldErrors&);
};
constexpr SourceRow kSources[] = {
    {"emptyDir", validate_empty_dir},
    {"hostPath", validate_host_path},
    {"secret", validate_secret},
    {"nfs", validate_nfs},
    {"persistentVolumeClaim", validate_claim},
    {"downwardAPI", validate_downward},
    {"configMap", validate_config_map},
    {"projected", validate_projected},
    {"csi", validate_csi},
    {"ephemeral", validate_ephemeral},
};

void validate_source(const Object& volume, const std::string& path, FieldErrors& errors) {
  int count = 0;
  for (const auto& member : volume) {
    const std::string_view key = member.key();
    if (key == "name" || !member.value().is_object()) continue;
    if (++count > 1) {
      errors.forbidden(at(path, key), "may not specify more than 1 volume type");
      continue;
    }
    for (const SourceRow& row : kSources) {
      if (row.key == key) row.validate(member.value().get_object(), at(path, key), errors);
    }
  }
  if (count == 0) errors.required(path, "must specify a volume type");
}

}  // namespace

void validate_csi_driver_name(std::string_view driver, const std::string& path, FieldErrors& errors) {
  if (driver.empty()) {
    errors.required(path);
    return;
  }
  if (driver.size() > kMaxDriverName) errors.too_long(path, driver, static_cast<long long>(kMaxDriverName));
  add_problems(is_dns1123_subdomain(driver), path, driver, errors);
}

std::set<std::string> validate_volumes(const Object& pod_spec, const std::string& path, std::string_view pod_name, FieldErrors& errors) {
  std::set<std::string> names;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t i) {
    const std::string item = at(at(path, "volumes"), i);
    const std::string name(get_string(volume, "name"));
    const std::size_t before = errors.size();
    validate_source(volume, item, errors);
    if (name.empty()) {
      errors.required(at(item, "name"));
    } else {
      add_problems(is_dns1123_label(name), at(item, "name"), name, errors);
      if (names.contains(name)) errors.duplicate(at(item, "name"), name);
      // The claim that comes with an ephemeral volume is named after pod and volume.
      if (has(volume, "ephemeral") && !pod_name.empty()) {
        const std::string claim = std::string(pod_name) + "-" + name;
        for (const std::string& problem : is_dns1123_subdomain(claim)) {
          errors.invalid(at(item, "name"), name, "PVC name " + quoted(claim) + ": " + problem);
        }
      }
    }
    if (errors.size() == before) names.insert(name);
  });
  return names;
}

void validate_claim_spec(const Object& claim_spec, const std::string& path, FieldErrors& errors) {
  const Array* modes = get_array(claim_spec, "accessModes");
  if (modes == nullptr || modes->empty()) errors.required(at(path, "accessModes"), "at least 1 access mode is required");
  static const std::vector<std::string> kModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
  bool single = false;
  for (const Value& mode : modes ? *modes : Array()) {
    const std::string text(text_of(mode));
    if (std::find(kModes.begin(), kModes.end(), text) == kModes.end()) errors.not_supported(at(path, "accessModes"), text, kModes);
    single = single || text == "ReadWriteOncePod";
  }
  if (single && modes->size() > 1) {
    errors.forbidden(at(path, "accessModes"), "may not use ReadWriteOncePod with other access modes");
  }
  if (const Object* selector = get_object(claim_spec, "selector")) validate_label_selector(*selector, at(path, "selector"), errors);
  const Value* storage = find_path(claim_spec, {"resources", "requests", "storage"});
  if (storage == nullptr) {
    errors.required(at_key(at(path, "resources"), "storage"));
  } else if (compare_quantities(text_of(*storage), "0") <= 0) {
    errors.invalid(at_key(at(path, "resources"), "storage"), text_of(*storage), "must be greater than zero");
  }
  if (const std::string_view name = get_string(claim_spec, "storageClassName"); !name.empty()) {
    add_problems(is_dns1123_subdomain(name), at(path, "storageClassName"), name, errors);
  }
  check_one_of(claim_spec, "volumeMode", path, {"Block", "Filesystem"}, errors);
  validate_data_sources(claim_spec, path, errors);
}

}  // namespace backplane::workload
