// Rules for pod specs and pod templates that involve several fields (pkg/apis/core/validation). The rules of single fields are in the
// schema and are evaluated first.
//
// Thread-safety: pure functions on trees that the caller owns.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/host.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

// The host's flags for pods. A plugin reads them once, in provision(), and passes them to its strategies.
struct PodValidationOptions {
  bool allow_privileged = false;  // --allow-privileged: containers may be privileged
  // Invalid values that an update may keep if the stored pod has them (GetValidationOptionsFromPodSpecAndMeta of pkg/api/pod).
  bool init_resize_policy = false;
  bool devices_without_host_users = false;
  bool spread_keys_twice = false;
  bool parts_of_pages = false;
  bool token_paths = false;

  // Returns the options for an update of a pod with `old_spec`: these options, and tolerance of the invalid values that `old_spec` has.
  PodValidationOptions for_update_of(const Object& old_spec) const;
};
PodValidationOptions pod_validation_options(const Host& host);

// Checks a pod spec. `pod_name`: the name of the pod; empty for a template.
void validate_pod_spec(const Object& pod_spec, const kit::Path& path, std::string_view pod_name, const PodValidationOptions& options,
                       FieldErrors& errors);
// Checks the labels, the annotations and the spec of a pod template.
void validate_pod_template(const Object& pod_template, const kit::Path& path, const PodValidationOptions& options, FieldErrors& errors);

// ---- parts of validate_pod_spec(), one source file each
void validate_containers(const Object& pod_spec, const kit::Path& path, const std::set<std::string>& volumes,
                         const PodValidationOptions& options, FieldErrors& errors);
// Checks that the image of a pod's container has no leading or trailing blanks. Images of templates are not checked.
void validate_image_ends(const Object& container, const kit::Path& path, FieldErrors& errors);
// Checks the volumes. Returns the names of the valid volumes.
std::set<std::string> validate_volumes(const Object& pod_spec, const kit::Path& path, std::string_view pod_name,
                                       const PodValidationOptions& options, FieldErrors& errors);
void validate_claim_spec(const Object& claim_spec, const kit::Path& path, FieldErrors& errors);
void validate_field_ref(const Object& holder, const kit::Path& path, const std::set<std::string>& allowed, FieldErrors& errors);
void validate_resource_field_ref(const Object& ref, const kit::Path& path, bool volume, FieldErrors& errors);

// ---- helpers
// Call functions of the SDK whose path is a text: the text is built only if there is an error. An empty value is valid.
using ObjectRules = void (*)(const Object& object, const std::string& path, FieldErrors& errors);
void check_at(ObjectRules rules, const Object& object, const kit::Path& path, FieldErrors& errors);
void add_problems(const std::vector<std::string>& problems, const kit::Path& path, std::string_view value, FieldErrors& errors);
// Adds the error "Unsupported value" unless the member is one of `supported`.  An absent member is not an error.
void check_one_of(const Object& parent, std::string_view key, const kit::Path& path, const std::vector<std::string>& supported,
                  FieldErrors& errors);

}  // namespace backplane::workload
