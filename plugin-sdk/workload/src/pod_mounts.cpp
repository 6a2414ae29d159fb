// Rules for the volumes of a container: as files, as devices, and as sources of environment variables.
#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

// The names and paths that one list of a container uses, for checking the other list.
struct Taken {
  Taken(const Object& container, std::string_view list, std::string_view place) {
    each(container, list, [&](const Object& item, std::size_t) {
      names.emplace(get_string(item, "name"));
      places.emplace(get_string(item, place));
    });
  }
  std::set<std::string, std::less<>> names, places;
};

void validate_recursion(const Object& mount, const Path& path, FieldErrors& errors) {
  if (!has(mount, "recursiveReadOnly")) return;
  const std::string_view mode = get_string(mount, "recursiveReadOnly");
  if (mode == "Disabled") return;
  if (mode != "Enabled" && mode != "IfPossible") {
    errors.not_supported(path, mode, {"Disabled", "Enabled", "IfPossible"});
    return;
  }
  if (!get_bool(mount, "readOnly").value_or(false)) errors.forbidden(path, "may only be specified when readOnly is true");
  if (has(mount, "mountPropagation") && get_string(mount, "mountPropagation") != "None") {
    errors.forbidden(path, "may only be specified when mountPropagation is None or not specified");
  }
}

// As upstream, reports errors of an item's mountPropagation at the path of the list.
void validate_modes(const Object& container, const Object& mount, const Path& path, FieldErrors& errors) {
  const Path propagation = path.at("mountPropagation");
  check_one_of(mount, "mountPropagation", path, {"Bidirectional", "HostToContainer", "None"}, errors);
  const bool privileged = get_bool(object_or_empty(container, "securityContext"), "privileged").value_or(false);
  if (get_string(mount, "mountPropagation") == "Bidirectional" && !privileged) {
    errors.forbidden(propagation, "Bidirectional mount propagation is available only to privileged containers");
  }
  validate_recursion(mount, path.at("recursiveReadOnly"), errors);
}

void validate_mounts(const Object& container, const Path& path, const std::set<std::string>& volumes, FieldErrors& errors) {
  std::set<std::string> mounted;
  const Taken devices(container, "volumeDevices", "devicePath");
  const Path list = path.at("volumeMounts");
  each(container, "volumeMounts", [&](const Object& mount, std::size_t i) {
    const Path item = path.at("volumeMounts", i);
    const std::string name(get_string(mount, "name")), target(get_string(mount, "mountPath"));
    if (!volumes.contains(name)) errors.not_found(item.at("name"), name);
    if (!mounted.insert(target).second) errors.invalid(item.at("mountPath"), target, "must be unique");
    if (devices.names.contains(name)) errors.invalid(item.at("name"), name, "must not already exist in volumeDevices");
    if (devices.places.contains(target)) {
      errors.invalid(item.at("mountPath"), target, "must not already exist as a path in volumeDevices");
    }
    validate_modes(container, mount, list, errors);
    for (std::string_view member : {"subPath", "subPathExpr"}) {
      const std::string_view below = get_string(mount, member);
      if (!below.empty()) add_problems(descending_path_problems(below), list.at(member), below, errors);
    }
  });
}

bool has_parent_step(std::string_view path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

void validate_devices(const Object& container, const Path& path, const std::set<std::string>& volumes, const std::set<std::string>& claimed,
                      FieldErrors& errors) {
  std::set<std::string> names, places;
  const Taken mounts(container, "volumeMounts", "mountPath");
  each(container, "volumeDevices", [&](const Object& device, std::size_t i) {
    const Path item = path.at("volumeDevices", i), name_path = item.at("name"), place_path = item.at("devicePath");
    const std::string name(get_string(device, "name")), place(get_string(device, "devicePath"));
    if (name.empty()) errors.required(name_path);
    if (names.contains(name)) errors.invalid(name_path, name, "must be unique");
    if (!volumes.contains(name)) {
      errors.not_found(name_path, name);
    } else if (!claimed.contains(name)) {
      errors.invalid(name_path, name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (place.empty()) errors.required(place_path);
    if (places.contains(place)) errors.invalid(place_path, place, "must be unique");
    if (has_parent_step(place)) {
      errors.invalid(place_path, place, "can not contain backsteps ('..')");
    } else {
      places.insert(place);
    }
    if (mounts.names.contains(name)) errors.invalid(name_path, name, "must not already exist in volumeMounts");
    if (mounts.places.contains(place)) errors.invalid(place_path, place, "must not already exist as a path in volumeMounts");
    if (!name.empty()) names.insert(name);
  });
}

}  // namespace

std::set<std::string> volumes_of_claims(const Object& pod_spec) {
  std::set<std::string> claimed;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t) {
    const std::string name(get_string(volume, "name"));
    // If several volumes have the same name, the last one applies.
    if (has(volume, "persistentVolumeClaim") || has(volume, "ephemeral")) {
      claimed.insert(name);
    } else {
      claimed.erase(name);
    }
  });
  return claimed;
}

void validate_container_volumes(const Object& container, const Path& path, const std::set<std::string>& volumes,
                                const std::set<std::string>& claimed, FieldErrors& errors) {
  validate_mounts(container, path, volumes, errors);
  validate_devices(container, path, volumes, claimed, errors);
}

void validate_file_keys(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  std::map<std::string_view, const Object*> volumes;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t) { volumes[get_string(volume, "name")] = &volume; });
  each_container(pod_spec, path, [&](const Object& container, const Path& item) {
    each(container, "env", [&](const Object& variable, std::size_t i) {
      const Object* key = get_object(object_or_empty(variable, "valueFrom"), "fileKeyRef");
      if (key == nullptr) return;
      const std::string_view name = get_string(*key, "volumeName");
      const auto volume = volumes.find(name);
      const std::string place = std::string(item.at("env", i)) + ".valueFrom.fileKeyRef.volumeName";
      if (volume == volumes.end()) {
        errors.not_found(place, name);
      } else if (!has(*volume->second, "emptyDir")) {
        errors.invalid(place, name, "referenced volume must be of type emptyDir");
      }
    });
  });
}

}  // namespace backplane::workload
