// Rules for the volumes of a pod.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/volume_sources.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

void validate_downward(const Object& source, const Path& path, const PodValidationOptions&, FieldErrors& errors) {
  each(source, "items", [&](const Object& item, std::size_t) { validate_downward_item(item, path, errors); });
}
void validate_ephemeral(const Object& source, const Path& path, const PodValidationOptions&, FieldErrors& errors) {
  const Object* claim = get_object(source, "volumeClaimTemplate");
  if (claim == nullptr) return;
  const Path inside = path.at("volumeClaimTemplate"), metadata_path = inside.at("metadata");
  const Object& metadata = object_or_empty(*claim, "metadata");
  validate_labels(object_or_empty(metadata, "labels"), metadata_path.at("labels"), errors);
  validate_annotations(object_or_empty(metadata, "annotations"), metadata_path.at("annotations"), errors);
  validate_claim_spec(object_or_empty(*claim, "spec"), inside.at("spec"), errors);
}

struct SourceRow {
  std::string_view key;
  void (*validate)(const Object&, const Path&, const PodValidationOptions&, FieldErrors&);
};
constexpr SourceRow kSources[] = {
    {"downwardAPI", validate_downward},
    {"projected", validate_projected},
    {"ephemeral", validate_ephemeral},
};

// Checks only the first source of a volume, because a volume must have only one.
void validate_source(const Object& volume, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  for (const auto& member : volume) {
    if (!member.value().is_object()) continue;
    for (const SourceRow& row : kSources) {
      if (row.key == member.key()) row.validate(member.value().get_object(), path.at(row.key), options, errors);
    }
    return;
  }
}

// Returns the names of the claims that ephemeral volumes create.
std::set<std::string, std::less<>> made_claims(const Object& pod_spec, std::string_view pod_name) {
  std::set<std::string, std::less<>> claims;
  if (pod_name.empty()) return claims;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t) {
    if (has(volume, "ephemeral")) claims.insert(std::string(pod_name) + "-" + std::string(get_string(volume, "name")));
  });
  return claims;
}

// Returns the indexes of the volumes for which the schema's rules, which run first, have reported errors.
std::set<std::string, std::less<>> volumes_with_errors(const FieldErrors& errors, const Path& path) {
  std::set<std::string, std::less<>> with_errors;
  if (errors.empty()) return with_errors;
  const std::string begin = path.at("volumes").text() + "[";
  for (const FieldError& error : errors.list()) {
    if (!error.field.starts_with(begin)) continue;
    const std::string_view rest = std::string_view(error.field).substr(begin.size());
    const auto close = rest.find(']');
    if (close == std::string_view::npos || (close + 1 < rest.size() && rest[close + 1] != '.')) continue;
    with_errors.emplace(rest.substr(0, close));
  }
  return with_errors;
}

}  // namespace

std::set<std::string> validate_volumes(const Object& pod_spec, const Path& path, std::string_view pod_name,
                                       const PodValidationOptions& options, FieldErrors& errors) {
  std::set<std::string> names;
  const auto with_errors = volumes_with_errors(errors, path);
  const auto made = made_claims(pod_spec, pod_name);
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t i) {
    const Path item = path.at("volumes", i);
    const std::size_t found_before = errors.size();
    const std::string name(get_string(volume, "name"));
    validate_source(volume, item, options, errors);
    validate_volume_source(volume, item, "", errors);
    if (const Object* iscsi = get_object(volume, "iscsi"); iscsi != nullptr && has(*iscsi, "initiatorName")) {
      validate_portal_length(name, get_string(*iscsi, "targetPortal"), item.at("name"), errors);
    }
    const Object* image = get_object(volume, "image");
    const bool alone = std::count_if(volume.begin(), volume.end(), [](const auto& member) { return member.value().is_object(); }) == 1;
    if (image != nullptr && alone && !pod_name.empty() && get_string(*image, "reference").empty()) {
      errors.required(item.at("image").text() + ".reference");
    }
    if (!name.empty()) {
      if (names.contains(name)) errors.duplicate(item.at("name"), name);
      // The name of an ephemeral volume's claim consists of the names of the pod and of the volume.
      if (has(volume, "ephemeral") && !pod_name.empty()) {
        const std::string claim = std::string(pod_name) + "-" + name;
        for (const std::string& problem : is_dns1123_subdomain(claim)) {
          errors.invalid(item.at("name"), name, "PVC name " + quoted(claim) + ": " + problem);
        }
      }
    }
    if (errors.size() == found_before && (with_errors.empty() || !with_errors.contains(std::to_string(i)))) names.insert(name);
    const std::string_view claim = get_string(object_or_empty(volume, "persistentVolumeClaim"), "claimName");
    if (made.contains(claim)) {
      errors.invalid(item.at("persistentVolumeClaim").text() + ".claimName", claim,
                     "must not reference a PVC that gets created for an ephemeral volume");
    }
  });
  return names;
}

void validate_claim_spec(const Object& claim_spec, const Path& path, FieldErrors& errors) {
  const Value* storage = find_path(claim_spec, {"resources", "requests", "storage"});
  if (storage == nullptr) {
    errors.required(path.at("resources[storage]"));
  } else if (compare_quantities(text_of(*storage), "0") <= 0) {
    errors.invalid(path.at("resources[storage]"), text_of(*storage), "must be greater than zero");
  }
}

}  // namespace backplane::workload
