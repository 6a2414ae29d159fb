// The types of every group: those of the SDK and the plugins, and those of versions that 1.36 can decode but does not serve.
//
// Thread-safety: any thread.
// Lifetime:      that of the process.
#pragma once

#include <memory>

#include "backplane/types/schema.hpp"

namespace backplane {

const SchemaSet& all_documents();
// The type of an object by its kind and apiVersion; null: unknown.
const Schema* type_of(const Object& object);

}  // namespace backplane
