// Versions that objects of a group were once stored in and that are no longer served: stored objects of them are read, and their next write
// stores them in the version that is stored today.
//
// A document lists them, with the types that differ from today's by more than the version's name:
//
//   {"stored": "apps/v1", "kinds": {"Deployment": ["apps/v1beta2", "extensions/v1beta1"]}, "definitions": {…}}
//   stored  the version that is stored
//   like    the version whose types are those of kinds without a definition; not there: `stored`
//
// Thread-safety: used while a plugin provisions, on one thread.
// Errors:        the Scheme's; kInternalError for a document that cannot be read or that lacks a version that there is a conversion for.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backplane/rest/scheme.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// By kind and former version: to the stored version, before its defaults are set.  Versions without one differ by their names alone.
using FormerConversions = std::map<std::pair<std::string, std::string>, Scheme::Conversion>;

// After the group is installed.  `types`: those of the version `like`; `document` lives as long as the process (a plugin's read-only data).
Status add_former_versions(Scheme& scheme, std::string_view registrant, std::string_view document, std::shared_ptr<const SchemaSet> types,
                           const FormerConversions& conversions = {});

}  // namespace BACKPLANE_API
