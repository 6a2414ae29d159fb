// Versions in which objects of a group were stored by earlier releases and which are no longer served. Stored objects of these versions
// can be read; their next write stores them in the current version.
//
// A document lists the versions, and the types that differ from the current ones by more than the version's name:
//
//   {"stored": "apps/v1", "kinds": {"Deployment": ["apps/v1beta2", "extensions/v1beta1"]}, "definitions": {…}}
//   stored  the stored version
//   like    the version whose types apply to kinds without a definition; default: `stored`
//
// Thread-safety: used while a plugin provisions, on one thread.
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

// By kind and former version: conversion to the stored version, before defaults are applied. Versions without one differ only in their
// names.
using FormerConversions = std::map<std::pair<std::string, std::string>, Scheme::Conversion>;

// Call it after the group is installed. `types`: those of version `like`. `document` must live as long as the process (a plugin's
// read-only data).
Status add_former_versions(Scheme& scheme, std::string_view registrant, std::string_view document, std::shared_ptr<const SchemaSet> types,
                           const FormerConversions& conversions = {});

}  // namespace BACKPLANE_API
