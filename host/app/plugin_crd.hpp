// A CustomResourceDefinition (apiextensions.k8s.io/v1) as the description of a plugin's kind.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest: no CustomResourceDefinition of v1, several of them, versions that a webhook converts.
#pragma once

#include <string_view>

#include "app/plugin_import.hpp"

namespace backplane {

// `yaml`: one or more documents. `kind`: which definition is meant, if there are several; empty: the only one.
Result<ImportedKind> kind_of_crd(std::string_view yaml, std::string_view kind);

}  // namespace backplane
