#include "backplane/workload/pod_annotations.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/annotation_value.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::string_view kTolerations = "scheduler.alpha.kubernetes.io/tolerations";
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kLocalhost = "localhost/";
constexpr std::string_view kRuntimeDefault = "runtime/default";
constexpr std::string_view kUnconfined = "unconfined";

bool is_windows(const Object& pod_spec) { return get_string_path(pod_spec, "os.name") == "windows"; }

// True for a deletion cost: a 32-bit integer without a plus sign and without leading zeros.
bool is_cost(std::string_view text) {
  if (text.empty() || (text != "0" && text.front() != '-' && (text.front() < '1' || text.front() > '9'))) return false;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool has_wrong_cost(const Object& annotations) {
  const Value* cost = find(annotations, kDeletionCost);
  return cost != nullptr && !is_cost(text_of(*cost));
}

using Names = std::set<std::string, std::less<>>;

Names container_names(const Object& pod_spec) {
  Names out;
  each_container(pod_spec, "", [&](const Object& container, const Path&) { out.emplace(get_string(container, "name")); });
  return out;
}

void validate_tolerations(std::string_view text, const Path& path, FieldErrors& errors) {
  const Schema* type = core_schemas()->find("io.k8s.api.core.v1.Toleration");
  const AnnotationValue read = read_annotation_list(text, *type, "core.Toleration");
  if (!read.problem.empty()) return errors.invalid(path, kTolerations, read.problem);
  if (!read.value.is_array()) return;
  const Array& tolerations = read.value.get_array();
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    type->check(tolerations[i].get_object(), nullptr, ObjectPart::kWhole, path.at(kTolerations, i), errors);
  }
}

void validate_seccomp_text(std::string_view profile, const Path& path, FieldErrors& errors) {
  if (profile == kRuntimeDefault || profile == "docker/default" || profile == kUnconfined) return;
  if (profile.starts_with(kLocalhost)) {
    const std::string_view file = profile.substr(kLocalhost.size());
    return add_problems(descending_path_problems(file), path, file, errors);
  }
  errors.invalid(path, profile, "must be a valid seccomp profile");
}

void validate_app_armor_text(std::string_view key, std::string_view profile, const Names& containers, const Path& path,
                             FieldErrors& errors) {
  const std::string_view container = key.substr(kAppArmorAnnotation.size());
  if (!containers.contains(container)) errors.invalid(path, container, "container not found");
  if (profile.empty() || profile == kRuntimeDefault || profile == kUnconfined || profile.starts_with(kLocalhost)) return;
  errors.invalid(path, profile, "invalid AppArmor profile name: " + quoted(profile));
}

// One kind of profile ("seccomp" or "apparmor") that may be set by an annotation and by a field. `defaults`: texts that mean
// RuntimeDefault.
struct TwofoldProfile {
  std::string_view what;
  std::string_view member;
  std::vector<std::string_view> defaults;
};
const TwofoldProfile kSeccomp{"seccomp", "seccompProfile", {kRuntimeDefault, "docker/default"}};
const TwofoldProfile kAppArmor{"apparmor", "appArmorProfile", {kRuntimeDefault}};

void check_same(const TwofoldProfile& kind, std::string_view annotation, const Object& profile, const Path& path, FieldErrors& errors) {
  const std::string_view type = get_string(profile, "type");
  const auto add_error = [&](std::string_view member, std::string_view what) {
    errors.forbidden(path.at(member), std::string(kind.what) + " " + std::string(what) + " in annotation and field must match");
  };
  if (type == "Unconfined") {
    if (annotation != kUnconfined) add_error("type", "type");
  } else if (type == "RuntimeDefault") {
    if (std::find(kind.defaults.begin(), kind.defaults.end(), annotation) == kind.defaults.end()) add_error("type", "type");
  } else if (type == "Localhost") {
    if (!annotation.starts_with(kLocalhost)) {
      add_error("type", "type");
    } else if (!has(profile, "localhostProfile") || annotation.substr(kLocalhost.size()) != get_string(profile, "localhostProfile")) {
      add_error("localhostProfile", "profile");
    }
  }
}

// `otherwise`: the profile of containers that have no profile.
void check_containers(const TwofoldProfile& kind, std::string_view prefix, const Object& annotations, const Object& pod_spec,
                      const Path& path, const Object* otherwise, FieldErrors& errors) {
  each_container(pod_spec, path, [&](const Object& container, const Path& item) {
    const Object* own = get_object(object_or_empty(container, "securityContext"), kind.member);
    const Object* profile = own != nullptr ? own : otherwise;
    const Value* annotation = find(annotations, std::string(prefix) + std::string(get_string(container, "name")));
    if (profile == nullptr || annotation == nullptr) return;
    const Path security = item.at("securityContext"), place = security.at(kind.member);
    check_same(kind, text_of(*annotation), *profile, place, errors);
  });
}

bool is_whole_profile(const Value& profile) {
  const Object* fields = profile.if_object();
  if (fields == nullptr) return false;
  FieldErrors problems;
  core_schemas()->find("io.k8s.api.core.v1.AppArmorProfile")->check(*fields, nullptr, ObjectPart::kWhole, "", problems);
  return problems.empty();
}

}  // namespace

Value app_armor_profile(std::string_view annotation) {
  if (annotation == kUnconfined) return Object{{"type", "Unconfined"}};
  if (annotation == kRuntimeDefault) return Object{{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocalhost) || annotation.size() == kLocalhost.size()) return nullptr;
  return Object{{"type", "Localhost"}, {"localhostProfile", annotation.substr(kLocalhost.size())}};
}

void validate_pod_annotations(const Object& annotations, const Object& pod_spec, const Path& path, const Object* before,
                              FieldErrors& errors) {
  if (annotations.empty()) return;
  const std::string_view tolerations = get_string(annotations, kTolerations);
  if (const Value* mirror = find(annotations, kMirrorAnnotation); mirror != nullptr && get_string(pod_spec, "nodeName").empty()) {
    errors.invalid(path.at_key(kMirrorAnnotation), text_of(*mirror), "must set spec.nodeName if mirror pod annotation is set");
  }
  if (!tolerations.empty()) validate_tolerations(tolerations, path, errors);
  if (has_wrong_cost(annotations) && (before == nullptr || !has_wrong_cost(*before))) {
    errors.invalid(path.at_key(kDeletionCost), get_string(annotations, kDeletionCost), "must be a 32bit integer");
  }
  std::optional<Names> containers;
  for (const auto& entry : annotations) {
    const std::string_view key = entry.key(), value = text_of(entry.value());
    if (key == kPodSeccompAnnotation || key.starts_with(kContainerSeccompAnnotation)) validate_seccomp_text(value, path.at(key), errors);
    if (!key.starts_with(kAppArmorAnnotation)) continue;
    if (!containers) containers = container_names(pod_spec);
    validate_app_armor_text(key, value, *containers, path.at_key(key), errors);
  }
}

void validate_pod_annotation_changes(const Object& pod, const Object& old, FieldErrors& errors) {
  const Object& now = object_or_empty(object_or_empty(pod, "metadata"), "annotations");
  const Object& before = object_or_empty(object_or_empty(old, "metadata"), "annotations");
  const Path path = "metadata.annotations";
  const auto add_error = [&](std::string_view key, const std::string& what) {
    if (key.starts_with(kAppArmorAnnotation)) errors.forbidden(path.at_key(key), "may not " + what + " AppArmor annotations");
    if (key == kMirrorAnnotation) errors.forbidden(path.at_key(key), "may not " + what + " mirror pod annotation");
  };
  for (const auto& entry : before) {
    const Value* kept = find(now, entry.key());
    if (kept == nullptr || *kept != entry.value()) add_error(entry.key(), "remove or update");
  }
  for (const auto& entry : now) {
    if (find(before, entry.key()) == nullptr) add_error(entry.key(), "add");
  }
  validate_pod_annotations(now, object_or_empty(pod, "spec"), path, &before, errors);
}

void validate_twofold_profiles(const Object& annotations, const Object& pod_spec, const Path& path, FieldErrors& errors) {
  if (annotations.empty()) return;
  const Path security_path = path.at("securityContext"), seccomp_path = security_path.at("seccompProfile");
  const Object& security = object_or_empty(pod_spec, "securityContext");
  const Object* seccomp = get_object(security, "seccompProfile");
  if (const Value* annotation = find(annotations, kPodSeccompAnnotation); annotation != nullptr && seccomp != nullptr) {
    check_same(kSeccomp, text_of(*annotation), *seccomp, seccomp_path, errors);
  }
  check_containers(kSeccomp, kContainerSeccompAnnotation, annotations, pod_spec, path, nullptr, errors);
  if (is_windows(pod_spec)) return;
  check_containers(kAppArmor, kAppArmorAnnotation, annotations, pod_spec, path, get_object(security, "appArmorProfile"), errors);
}

std::vector<std::string> take_app_armor_annotations(Object& pod) {
  std::vector<std::string> warnings;
  const Object& annotations = object_or_empty(object_or_empty(pod, "metadata"), "annotations");
  Object* spec = mutable_object(pod, "spec");
  if (spec == nullptr || annotations.empty() || is_windows(*spec)) return warnings;
  const Object* of_pod = get_object(object_or_empty(*spec, "securityContext"), "appArmorProfile");
  const auto take = [&](Object& container) {
    const std::string key = std::string(kAppArmorAnnotation) + std::string(get_string(container, "name"));
    const Value* annotation = find(annotations, key);
    if (annotation == nullptr || has(object_or_empty(container, "securityContext"), "appArmorProfile")) return;
    Value profile = app_armor_profile(text_of(*annotation));
    const bool whole = is_whole_profile(profile);
    if (whole && of_pod != nullptr && profile == Value(*of_pod)) return;
    if (whole) ensure_object(container, "securityContext")["appArmorProfile"] = std::move(profile);
    warnings.push_back("metadata.annotations[" + key + "]: deprecated since v1.30; use the \"appArmorProfile\" field instead");
  };
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) each_mutable(*spec, list, take);
  return warnings;
}

}  // namespace backplane::workload
