// A type of a schema set as one OpenAPI schema without references, as the schema of a custom resource is written.
//
// Thread-safety: a function of its arguments.
#pragma once

#include <string>

#include "backplane/types/schema.hpp"

namespace backplane {

// JSON. A type that contains itself, one that is nested too deeply and one whose text is longer than 128 KiB become objects with any
// members. Members that the set has not declared are allowed.
std::string inlined_schema(const SchemaSet& schemas, const std::string& definition, const GroupVersion& version);

}  // namespace backplane
