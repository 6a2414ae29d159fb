// The types of all groups: those of the SDK and of the plugins, and those of versions that Kubernetes 1.36 can decode but does not serve.
//
// Thread-safety: any thread.
// Lifetime:      the types exist as long as the process.
#pragma once

#include <memory>

#include "backplane/types/schema.hpp"

namespace backplane {

const SchemaSet& all_documents();
// The type of an object, which its kind and apiVersion select; null: unknown.
const Schema* type_of(const Object& object);

}  // namespace backplane
