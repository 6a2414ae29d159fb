// Former versions: versions in which earlier releases stored objects of a group, and which are no longer served. The server can read
// objects stored in these versions; the next write of such an object stores it in the current version.
//
// A JSON document lists the former versions, and the types that differ from the current types by more than the name of the version:
//
//   {"stored": "apps/v1", "kinds": {"Deployment": ["apps/v1beta2", "extensions/v1beta1"]}, "definitions": {…}}
//   stored       the stored version
//   like         the version whose types apply to kinds without an entry in `definitions`; default: the value of `stored`
//   kinds        the former versions of each kind
//   definitions  types of former versions
//
// Thread-safety: call it on the thread that runs the plugin's provision().
// Errors:        those of the Scheme; kInternalError for a malformed document, or one that lacks a version that `conversions` names.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backplane/rest/scheme.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// Conversions to the stored version, by kind and former version. A conversion runs before defaults are applied. A former version without a
// conversion differs from the stored version only in its name.
using FormerConversions = std::map<std::pair<std::string, std::string>, Scheme::Conversion>;

// Adds the former versions to `scheme`. Call it after the group is installed. `types` are the types of the version `like`. `document` must
// live as long as the process (read-only data of the plugin).
Status add_former_versions(Scheme& scheme, std::string_view registrant, std::string_view document, std::shared_ptr<const SchemaSet> types,
                           const FormerConversions& conversions = {});

}  // namespace BACKPLANE_API
