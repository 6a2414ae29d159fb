// The schema of one version of a custom resource, compiled.
//
// Thread-safety: compiled schemas are immutable.
// Lifetime:      `root` lives as long as `set`.
// Errors:        kInternalError with the engine's words.
#pragma once

#include <memory>
#include <string>

#include "backplane/schema.hpp"

namespace backplane::apiextensions {

struct CompiledSchema {
  std::shared_ptr<const SchemaSet> set;
  const Schema* root = nullptr;
};

// `schema`: openAPIV3Schema of a version; null stands for one that knows nothing and prunes everything.
Result<CompiledSchema> compile_schema(const Object* schema, const GroupVersionKind& kind);

// The name under which OpenAPI documents show the type: "com.example.v1.Widget".
std::string definition_name(const GroupVersionKind& kind);

}  // namespace backplane::apiextensions
