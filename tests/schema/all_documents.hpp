// The types of every group: those that the SDK and the plugins carry, and those of versions that 1.36 knows and does not serve.
//
// Thread-safety: any thread.
// Lifetime:      that of the process.
#pragma once

#include <memory>

#include "backplane/types/schema.hpp"

namespace backplane {

const SchemaSet& all_documents();
// The type of an object, told by kind and apiVersion; null: there is none.
const Schema* type_of(const Object& object);

}  // namespace backplane
