// Imports a kind from an OpenAPI v3 document, as kube-apiserver publishes it under /openapi/v3/apis/GROUP/VERSION.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest: no such kind, several of its name, a type that contains itself.
#pragma once

#include <string_view>

#include "app/plugin_import.hpp"

namespace backplane {

// `text`: JSON or YAML. The resource's name, its scope and its subresources come from the document's paths. References are replaced by the
// schemas that they name. `resource`: the plural name, for a document without paths of the kind; empty: made from the kind.
Result<ImportedKind> kind_of_openapi(std::string_view text, std::string_view kind, std::string_view resource);

}  // namespace backplane
