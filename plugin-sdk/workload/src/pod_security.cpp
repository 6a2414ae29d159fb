// Rules for the users of a pod and its containers, and for its operating system.
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/resources.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

bool is_on(const Object& object, std::string_view key) { return get_bool(object, key).value_or(false); }

// True if the pod uses its host's users. Such a pod may not access all of /proc.
bool shares_users(const Object& pod_spec) { return get_bool(pod_spec, "hostUsers").value_or(true); }

void validate_escalation(const Object& security, const Path& path, FieldErrors& errors) {
  if (get_bool(security, "allowPrivilegeEscalation") != std::optional<bool>(false)) return;
  const auto add_error = [&](std::string_view what) {
    const Schema* type = core_schemas()->find("io.k8s.api.core.v1.SecurityContext");
    errors.invalid_raw(path, to_json(type->go_struct(security)), "cannot set `allowPrivilegeEscalation` to false and " + std::string(what));
  };
  if (is_on(security, "privileged")) add_error("`privileged` to true");
  if (const Array* added = get_array(object_or_empty(security, "capabilities"), "add")) {
    for (const Value& name : *added) {
      if (text_of(name) == "CAP_SYS_ADMIN") add_error("`capabilities.Add` CAP_SYS_ADMIN");
    }
  }
}

bool has_devices(const Object& container) {
  const Array* devices = get_array(container, "volumeDevices");
  return devices != nullptr && !devices->empty();
}

void validate_host_users(const Object& pod_spec, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  if (shares_users(pod_spec)) return;
  if (options.devices_without_host_users) return;
  each_container(pod_spec, path, [&](const Object& container, const Path& item) {
    if (has_devices(container)) errors.forbidden(item.at("volumeDevices"), "when `hostUsers` is false");
  });
}

struct Member {
  std::string_view name;
  bool of_spec = false;  // true: a member of the pod's spec; false: of securityContext
};

constexpr std::array<Member, 15> kNotOnWindows = {{{"appArmorProfile"},
                                                   {"seLinuxOptions"},
                                                   {"hostUsers", true},
                                                   {"hostPID", true},
                                                   {"hostIPC", true},
                                                   {"seccompProfile"},
                                                   {"fsGroup"},
                                                   {"fsGroupChangePolicy"},
                                                   {"sysctls"},
                                                   {"shareProcessNamespace", true},
                                                   {"runAsUser"},
                                                   {"runAsGroup"},
                                                   {"supplementalGroups"},
                                                   {"supplementalGroupsPolicy"},
                                                   {"seLinuxChangePolicy"}}};
constexpr std::array<std::string_view, 10> kNotInWindowsContainers = {
    "appArmorProfile", "seLinuxOptions",           "seccompProfile", "capabilities", "readOnlyRootFilesystem",
    "privileged",      "allowPrivilegeEscalation", "procMount",      "runAsUser",    "runAsGroup"};

// True if the member is set in upstream's internal struct. There, false and an empty list of sysctls are not set.
bool is_set(const Object& object, std::string_view name) {
  if (name == "hostPID" || name == "hostIPC") return is_on(object, name);
  const Array* list = name == "sysctls" ? get_array(object, name) : nullptr;
  return has(object, name) && (list == nullptr || !list->empty());
}

void validate_windows(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  const Path security_path = path.at("securityContext");
  const Object& security = object_or_empty(pod_spec, "securityContext");
  for (const Member& member : kNotOnWindows) {
    if (!is_set(member.of_spec ? pod_spec : security, member.name)) continue;
    const Path& where = member.of_spec ? path : security_path;
    errors.forbidden(where.at(member.name), "cannot be set for a windows pod");
  }
  each_container(pod_spec, path, [&](const Object& container, const Path& item) {
    const Path where = item.at("securityContext");
    for (std::string_view member : kNotInWindowsContainers) {
      if (has(object_or_empty(container, "securityContext"), member)) {
        errors.forbidden(where.at(member), "cannot be set for a windows pod");
      }
    }
  });
}

void validate_linux(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kText = "windows options cannot be set for a linux pod";
  const Path security_path = path.at("securityContext");
  if (has(object_or_empty(pod_spec, "securityContext"), "windowsOptions")) errors.forbidden(security_path.at("windowsOptions"), kText);
  each_container(pod_spec, path, [&](const Object& container, const Path& item) {
    const Path where = item.at("securityContext");
    if (has(object_or_empty(container, "securityContext"), "windowsOptions")) errors.forbidden(where.at("windowsOptions"), kText);
  });
}

std::optional<bool> host_process(const Object& holder) {
  return get_bool(object_or_empty(object_or_empty(holder, "securityContext"), "windowsOptions"), "hostProcess");
}

// Checks Windows host processes: either all containers are host processes, or none.
void validate_host_processes(const Object& pod_spec, const Path& path, bool allow_privileged, FieldErrors& errors) {
  const auto of_pod = host_process(pod_spec);
  std::size_t all = 0, on_host = 0;
  each_container(pod_spec, path, [&](const Object& container, const Path& item) {
    ++all;
    const auto own = host_process(container);
    if (of_pod && own && *of_pod != *own) {
      errors.invalid_raw(item + ".securityContext.windowsOptions.hostProcess", *own ? "true" : "false",
                         "pod hostProcess value must be identical if both are specified, was " + std::string(*of_pod ? "true" : "false"));
    }
    on_host += own ? *own : of_pod.value_or(false);
  });
  if (on_host == 0) return;
  if (on_host != all) {
    errors.invalid(path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers");
  }
  if (!is_on(pod_spec, "hostNetwork")) {
    errors.invalid_raw(path.at("hostNetwork"), "false", "hostNetwork must be true if pod contains any hostProcess containers");
  }
  if (!allow_privileged) errors.forbidden(path, "hostProcess containers are disallowed by cluster policy");
}

}  // namespace

void validate_container_security(const Object& pod_spec, const Object& container, const Path& container_path, FieldErrors& errors) {
  const Object* security = get_object(container, "securityContext");
  if (security == nullptr) return;
  validate_windows_user(container, container_path, errors);
  const Path path = container_path.at("securityContext");
  if (get_string(*security, "procMount") == "Unmasked" && shares_users(pod_spec)) {
    errors.invalid(path.at("procMount"), "Unmasked", "`hostUsers` must be false to use `Unmasked`");
  }
  validate_escalation(*security, path, errors);
}

void validate_pod_security(const Object& pod_spec, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  const Path security_path = path.at("securityContext");
  if (is_on(pod_spec, "shareProcessNamespace") && is_on(pod_spec, "hostPID") && has(pod_spec, "securityContext")) {
    errors.invalid_raw(security_path.at("shareProcessNamespace"), "true", "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  validate_windows_user(pod_spec, path, errors);
  validate_host_processes(pod_spec, path, options.allow_privileged, errors);
  validate_host_users(pod_spec, path, options, errors);
  const std::string_view os = get_string(object_or_empty(pod_spec, "os"), "name");
  if (os == "linux") validate_linux(pod_spec, path, errors);
  if (os == "windows") validate_windows(pod_spec, path, errors);
}

PodValidationOptions PodValidationOptions::for_update_of(const Object& old_spec) const {
  PodValidationOptions out = *this;
  each(old_spec, "initContainers", [&](const Object& container, std::size_t) {
    if (get_string(container, "restartPolicy") == "Always") return;
    each(container, "resizePolicy",
         [&](const Object& policy, std::size_t) { out.init_resize_policy |= get_string(policy, "restartPolicy") == "RestartContainer"; });
  });
  if (!shares_users(old_spec)) {
    each_container(old_spec, Path("spec"),
                   [&](const Object& container, const Path&) { out.devices_without_host_users |= has_devices(container); });
  }
  each_container(old_spec, Path("spec"), [&](const Object& container, const Path&) {
    out.parts_of_pages |= has_parts_of_pages(object_or_empty(container, "resources"));
  });
  out.parts_of_pages |= has_parts_of_pages(Object{{"limits", object_or_empty(old_spec, "overhead")}});
  out.token_paths = has_outer_token_path(old_spec);
  FieldErrors twice;
  each(old_spec, "topologySpreadConstraints",
       [&](const Object& constraint, std::size_t) { validate_spread_keys(constraint, Path("spec"), twice); });
  out.spread_keys_twice = !twice.empty();
  return out;
}

void each_container(const Object& pod_spec, const Path& path, const std::function<void(const Object&, const Path&)>& visit) {
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    each(pod_spec, list, [&](const Object& container, std::size_t i) { visit(container, path.at(list, i)); });
  }
}

}  // namespace backplane::workload
