// The warnings of successful writes: of pods and of every kind with a pod template, of claims, of node selectors.
//
// Thread-safety: pure functions.
// Order and texts are upstream's (pkg/api/pod, pkg/api/persistentvolumeclaim, pkg/api/node).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

using Warnings = std::vector<std::string>;

// `pod`: a pod (empty path) or a pod template ("spec.template"). Kinds do not call it for updates that leave the template unchanged.
Warnings pod_warnings(const kit::Path& path, const Object& pod);
// The same for kinds with spec.template, on create or when an update has raised metadata.generation.
Warnings workload_warnings(const Object& object, const Object* old);
// Names that are not DNS labels, of kinds whose names become host names; `what` completes "metadata.name: this is used in …".
void warn_of_host_name(const Object& object, std::string_view what, Warnings& out);
bool generation_changed(const Object& object, const Object& old);

// ---- parts
void warn_of_claim_spec(const Object& claim_spec, const kit::Path& path, Warnings& out);
// `check_values`: preferences are not validated, so invalid label values in them cause a warning.
void warn_of_node_term(const Object& term, bool check_values, const kit::Path& path, Warnings& out);
// Warns of a deprecated node label key; the other checks all keys of a label selector.
void warn_of_node_label(std::string_view key, const kit::Path& path, Warnings& out);
void warn_of_node_labels(const Object& selector, const kit::Path& path, Warnings& out);
// Warns of a number of bytes that is not whole.
void warn_of_fraction(const Object& amounts, std::string_view resource, const kit::Path& path, Warnings& out);
// Warns of files in one volume that would overwrite each other.
void warn_of_overlapping_paths(const Object& pod_spec, Warnings& out);

}  // namespace backplane::workload
