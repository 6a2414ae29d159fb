// The warnings of successful writes of pods, of kinds with a pod template, of claims, and of node selectors. Order and texts are upstream's
// (pkg/api/pod, pkg/api/persistentvolumeclaim, pkg/api/node).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

using Warnings = std::vector<std::string>;

// Returns the warnings about a pod (empty path) or a pod template ("spec.template"). Strategies do not call it for an update that leaves
// the template unchanged.
Warnings pod_warnings(const kit::Path& path, const Object& pod);
// Returns the warnings of a kind with spec.template: on create, or if an update has raised metadata.generation.
Warnings workload_warnings(const Object& object, const Object* old);
// Warns if a name is not a DNS label, for kinds whose names become host names. `what` completes "metadata.name: this is used in …".
void warn_of_host_name(const Object& object, std::string_view what, Warnings& out);
bool generation_changed(const Object& object, const Object& old);

// ---- parts
void warn_of_claim_spec(const Object& claim_spec, const kit::Path& path, Warnings& out);
// `check_values`: warn of invalid label values too, because preferences are not validated.
void warn_of_node_term(const Object& term, bool check_values, const kit::Path& path, Warnings& out);
// Warns of a deprecated node label key (warn_of_node_label), or of all such keys in a label selector (warn_of_node_labels).
void warn_of_node_label(std::string_view key, const kit::Path& path, Warnings& out);
void warn_of_node_labels(const Object& selector, const kit::Path& path, Warnings& out);
// Warns if a number of bytes is not an integer.
void warn_of_fraction(const Object& amounts, std::string_view resource, const kit::Path& path, Warnings& out);
// Warns if files in one volume would overwrite each other.
void warn_of_overlapping_paths(const Object& pod_spec, Warnings& out);

}  // namespace backplane::workload
