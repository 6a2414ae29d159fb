// Rules for the containers of a pod: names, images, ports, environment, mounts, probes, handlers, security.
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/resources.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

// Data of the pod that the rules for one container need.
struct PodContext {
  const Object& pod_spec;
  const std::set<std::string>& volumes;
  const std::set<std::string>& claimed_volumes;
  const std::set<std::string>& claims;
  const PodValidationOptions& options;
};

const std::set<std::string> kEnvFields = {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
                                          "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};

constexpr std::array<std::string_view, 4> kRunning = {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"};
void validate_probe(const Object& container, std::string_view name, const Path& container_path, FieldErrors& errors) {
  const Object* probe = get_object(container, name);
  if (probe == nullptr) return;
  const Path path = container_path.at(name);
  const auto grace = get_int(*probe, "terminationGracePeriodSeconds");
  const Path grace_path = path.at("terminationGracePeriodSeconds");
  if (grace && *grace <= 0) errors.invalid(grace_path, static_cast<long long>(*grace), "must be greater than 0");
  if (name == "readinessProbe") {
    if (grace) errors.invalid(grace_path, static_cast<long long>(*grace), "must not be set for readinessProbes");
    return;
  }
  const std::int64_t success = get_int(*probe, "successThreshold").value_or(1);
  if (success != 1) errors.invalid(path.at("successThreshold"), static_cast<long long>(success), "must be 1");
}

void validate_value_from(const Object& variable, const Path& variable_path, FieldErrors& errors) {
  const Object* from = get_object(variable, "valueFrom");
  if (from == nullptr) return;
  const Path path = variable_path.at("valueFrom");
  int sources = 0;
  for (std::string_view key : {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}) sources += has(*from, key);
  validate_field_ref(*from, path, kEnvFields, errors);
  if (const Object* ref = get_object(*from, "resourceFieldRef")) {
    validate_resource_field_ref(*ref, path.at("resourceFieldRef"), false, errors);
  }
  if (sources == 0) {
    errors.invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  } else if (!get_string(variable, "value").empty()) {
    errors.invalid(path, "", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    errors.invalid(path, "", "may not have more than one field specified at a time");
  }
}

void validate_env(const Object& container, const Path& path, FieldErrors& errors) {
  each(container, "env", [&](const Object& variable, std::size_t i) { validate_value_from(variable, path.at("env", i), errors); });
  each(container, "envFrom", [&](const Object& source, std::size_t) {
    const int sources = has(source, "configMapRef") + has(source, "secretRef");
    if (sources == 0) errors.invalid(path.at("envFrom"), "", "must specify one of: `configMapRef` or `secretRef`");
    if (sources > 1) errors.invalid(path.at("envFrom"), "", "may not have more than one field specified at a time");
  });
}

void validate_privileges(const Object& container, const Path& container_path, const PodValidationOptions& options, FieldErrors& errors) {
  const Object* security = get_object(container, "securityContext");
  if (security == nullptr) return;
  const Path path = container_path.at("securityContext");
  if (get_bool(*security, "privileged").value_or(false) && !options.allow_privileged) {
    errors.forbidden(path.at("privileged"), "disallowed by cluster policy");
  }
}

// Rules for all kinds of containers.
void validate_container(const Object& container, const Path& path, const PodContext& around, FieldErrors& errors) {
  validate_env(container, path, errors);
  validate_container_volumes(container, path, around.volumes, around.claimed_volumes, errors);
  const Object& resources = object_or_empty(container, "resources");
  const Path resources_path = path.at("resources");
  validate_resource_requirements(resources, resources_path, errors, around.options.parts_of_pages);
  validate_claims_used(resources, resources_path, around.claims, errors);
  validate_resize_policy(around.pod_spec, container, path, errors);
  validate_privileges(container, path, around.options, errors);
  validate_container_security(around.pod_spec, container, path, errors);
}

// Rules for containers that keep running.
void validate_probes(const Object& container, const Path& path, FieldErrors& errors) {
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) validate_probe(container, probe, path, errors);
}

void validate_host_ports(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  std::set<std::string> taken;
  const bool host_network = get_bool(pod_spec, "hostNetwork").value_or(false);
  each(pod_spec, "containers", [&](const Object& container, std::size_t c) {
    each(container, "ports", [&](const Object& port, std::size_t p) {
      const std::int64_t host = get_int(port, "hostPort").value_or(0);
      if (host == 0) return;
      if (host_network && host != get_int(port, "containerPort").value_or(0)) {
        const Path container_path = path.at("containers", c), port_path = container_path.at("ports", p);
        errors.invalid(port_path.at("hostPort"), static_cast<long long>(host), "must match `containerPort` when `hostNetwork` is true");
      }
      const std::string text =
          std::string(get_string(port, "protocol")) + "/" + std::string(get_string(port, "hostIP")) + "/" + std::to_string(host);
      if (taken.insert(text).second) return;
      const Path container_path = path.at("containers", c), port_path = container_path.at("ports", p);
      errors.duplicate(port_path.at("hostPort"), text);
    });
  });
}

void validate_regular(const Object& pod_spec, const Path& path, const PodContext& around, FieldErrors& errors) {
  const Array* containers = get_array(pod_spec, "containers");
  if (containers == nullptr || containers->empty()) {
    errors.required(path);
    return;
  }
  std::set<std::string> names;
  each(pod_spec, "containers", [&](const Object& container, std::size_t i) {
    const Path item = path.at(i);
    const std::string name(get_string(container, "name"));
    validate_container(container, item, around, errors);
    if (!names.insert(name).second) errors.duplicate(item.at("name"), name);
    validate_sleeps(pod_spec, container, item, errors);
    validate_probes(container, item, errors);
    validate_restart_rules(container, item, false, errors);
  });
}

// Removes the errors of the schema at these members of the list's items, and below them, because upstream does not check these members.
void withdraw_errors(const std::unordered_set<std::string>& places, std::string_view list, FieldErrors& errors) {
  const auto is_there = [&](const FieldError& error) {
    if (!error.field.starts_with(list)) return false;
    const auto member = error.field.find("].", list.size());
    if (member == std::string::npos) return false;
    return places.contains(error.field.substr(0, error.field.find_first_of(".[", member + 2)));
  };
  // Errors that were only counted cannot be removed.
  if (places.empty() || errors.left_out() > 0 || std::none_of(errors.list().begin(), errors.list().end(), is_there)) return;
  FieldErrors kept;
  for (const FieldError& error : errors.list()) {
    if (!is_there(error)) kept.add(error);
  }
  errors = std::move(kept);
}

// `names`: the names of the regular containers; the function adds those of the init containers.
void validate_init(const Object& pod_spec, const Path& path, const PodContext& around, std::set<std::string>& names, FieldErrors& errors) {
  std::unordered_set<std::string> unread;
  FieldErrors forbidden;
  each(pod_spec, "initContainers", [&](const Object& container, std::size_t i) {
    const Path item = path.at(i);
    const std::string name(get_string(container, "name"));
    validate_container(container, item, around, errors);
    validate_restart_rules(container, item, true, errors);
    if (names.contains(name)) {
      errors.duplicate(item.at("name"), name);
    } else if (!name.empty()) {
      names.insert(name);
    }
    if (get_string(container, "restartPolicy") == "Always") {
      validate_sleeps(pod_spec, container, item, errors);
      validate_probes(container, item, errors);
      return;
    }
    if (!around.options.init_resize_policy) validate_init_resize_policy(container, item, errors);
    for (std::string_view field : kRunning) {
      if (!has(container, field)) continue;
      forbidden.forbidden(item.at(field), "may not be set for init containers without restartPolicy=Always");
      unread.insert(item.at(field));
    }
  });
  withdraw_errors(unread, path.text(), errors);
  errors.add(forbidden);
}

// Sub-paths are not allowed in ephemeral containers: sub-paths are bound until the pod ends, and ephemeral containers are added later.
void validate_ephemeral_mounts(const Object& container, const Path& path, FieldErrors& errors) {
  each(container, "volumeMounts", [&](const Object& mount, std::size_t i) {
    const Path item = path.at("volumeMounts", i);
    for (std::string_view field : {"subPath", "subPathExpr"}) {
      if (!get_string(mount, field).empty()) errors.forbidden(item.at(field), "cannot be set for an Ephemeral Container");
    }
  });
}

// `names`: the names of all other containers.
void validate_ephemeral(const Object& pod_spec, const Path& path, const PodContext& around, const std::set<std::string>& names,
                        FieldErrors& errors) {
  std::set<std::string> all(names);
  each(pod_spec, "ephemeralContainers", [&](const Object& container, std::size_t i) {
    const Path item = path.at(i);
    const std::string name(get_string(container, "name")), target(get_string(container, "targetContainerName"));
    validate_container(container, item, around, errors);
    validate_image_ends(container, item, errors);
    if (!all.insert(name).second) errors.duplicate(item.at("name"), name);
    if (!target.empty() && !names.contains(target)) errors.not_found(item.at("targetContainerName"), target);
    validate_ephemeral_mounts(container, item, errors);
  });
}

bool is_huge_page_field(std::string_view field) {
  return field.starts_with("limits.hugepages-") || field.starts_with("requests.hugepages-");
}

// Checks a divisor: the output of the field is the amount divided by it.
void validate_divisor(std::string_view field, std::string_view divisor, const Path& path, FieldErrors& errors) {
  if (divisor.empty() || divisor == "0") return;
  const std::string_view resource = field.substr(std::min(field.find('.') + 1, field.size()));
  if (resource == "cpu") {
    if (divisor != "1m" && divisor != "1") {
      errors.invalid(path, field, "only divisor's values 1m and 1 are supported with the cpu resource");
    }
    return;
  }
  const std::string_view what = resource == "memory"              ? "memory"
                                : resource == "ephemeral-storage" ? "local ephemeral storage"
                                : is_huge_page_field(field)       ? "hugepages"
                                                                  : "";
  constexpr std::array<std::string_view, 13> kUnits = {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  if (what.empty() || std::find(kUnits.begin(), kUnits.end(), divisor) != kUnits.end()) return;
  errors.invalid(path, field,
                 "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the " +
                     std::string(what) + " resource");
}

// Returns the two parts of "metadata.labels['key']"; nullopt if the text has no subscript.
std::optional<std::pair<std::string_view, std::string_view>> subscript_of(std::string_view text) {
  if (!text.ends_with("']")) return std::nullopt;
  text.remove_suffix(2);
  const auto bracket = text.find("['");
  if (bracket == 0 || bracket == std::string_view::npos) return std::nullopt;
  return std::pair(text.substr(0, bracket), text.substr(bracket + 2));
}

}  // namespace

void validate_field_ref(const Object& holder, const Path& path, const std::set<std::string>& allowed, FieldErrors& errors) {
  const Object* ref = get_object(holder, "fieldRef");
  if (ref == nullptr) return;
  const Path field = path.at("fieldRef");
  const std::string_view version = get_string(*ref, "apiVersion"), text = get_string(*ref, "fieldPath");
  if (version.empty()) errors.required(field.at("apiVersion"));
  if (text.empty()) {
    errors.required(field.at("fieldPath"));
    return;
  }
  const Path target = field.at("fieldPath");
  if (!version.empty() && version != "v1") {
    errors.invalid(target, text, "error converting fieldPath: unsupported pod version: " + std::string(version));
    return;
  }
  if (const auto part = subscript_of(text)) {
    const auto& [base, key] = *part;
    if (base == "metadata.labels") return add_problems(is_qualified_name(key), field, key, errors);
    const std::string lowered = lower_case(key);
    if (base == "metadata.annotations") return add_problems(is_qualified_name(lowered), field, lowered, errors);
    return errors.invalid(target, text, "error converting fieldPath: field label does not support subscript: " + std::string(text));
  }
  // spec.host is a former name of spec.nodeName.
  const std::string name(text == "spec.host" ? std::string_view("spec.nodeName") : text);
  if (allowed.contains(name)) return;
  static const std::set<std::string, std::less<>> kKnown = {
      "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
      "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
      "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
      "status.podIP",         "status.podIPs"};
  if (!kKnown.contains(name)) {
    errors.invalid(target, text, "error converting fieldPath: field label not supported: " + name);
    return;
  }
  errors.not_supported(target, name, {allowed.begin(), allowed.end()});
}

void validate_resource_field_ref(const Object& ref, const Path& path, bool volume, FieldErrors& errors) {
  static const std::vector<std::string> kResources = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                                                      "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  const std::string resource(get_string(ref, "resource"));
  if (volume && get_string(ref, "containerName").empty()) {
    errors.required(path.at("containerName"));
  } else if (resource.empty()) {
    errors.required(path.at("resource"));
  } else if (!is_huge_page_field(resource) && std::find(kResources.begin(), kResources.end(), resource) == kResources.end()) {
    errors.not_supported(path.at("resource"), resource, kResources);
  }
  validate_divisor(resource, get_string(ref, "divisor"), path.at("divisor"), errors);
}

void validate_image_ends(const Object& container, const Path& path, FieldErrors& errors) {
  const std::string_view image = get_string(container, "image");
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; };
  if (image.empty() || (!blank(image.front()) && !blank(image.back()))) return;
  errors.invalid(path.at("image"), image, "must not have leading or trailing whitespace");
}

void validate_containers(const Object& pod_spec, const Path& path, const std::set<std::string>& volumes,
                         const PodValidationOptions& options, FieldErrors& errors) {
  const std::set<std::string> claims = validate_resource_claims(pod_spec, path, errors);
  const std::set<std::string> claimed_volumes = volumes_of_claims(pod_spec);
  const PodContext around{pod_spec, volumes, claimed_volumes, claims, options};
  validate_regular(pod_spec, path.at("containers"), around, errors);
  validate_host_ports(pod_spec, path, errors);
  std::set<std::string> names;
  each(pod_spec, "containers", [&](const Object& container, std::size_t) { names.emplace(get_string(container, "name")); });
  validate_init(pod_spec, path.at("initContainers"), around, names, errors);
  validate_ephemeral(pod_spec, path.at("ephemeralContainers"), around, names, errors);
  validate_pod_resources(pod_spec, path, claims, options, errors);
  validate_file_keys(pod_spec, path, errors);
}

}  // namespace backplane::workload
