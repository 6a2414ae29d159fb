// The schema of one version of a custom resource.
//
// Thread-safety: any thread.
// Lifetime:      `root` lives as long as `set`.
// Errors:        compile_schema(): kBadRequest with the engine's message.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backplane/core/object.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::apiextensions {

// A stored definition whose schemas are parsed at their first use: an unused type costs no parsed copy of them.
class SchemaSource {
 public:
  explicit SchemaSource(ObjectRef entry) : entry_(std::move(entry)) {}
  // Replaces the definition by a newer revision with the same schemas; the older revision can then be released.
  void renew(ObjectRef entry);
  // openAPIV3Schema of a version as JSON; if there is none, an empty schema, which prunes everything.
  SharedBytes schema(const std::string& version) const;

 private:
  mutable std::mutex mutex_;
  ObjectRef entry_;
};

struct CompiledSchema {
  std::shared_ptr<const SchemaSet> set;
  const Schema* root = nullptr;
};

// Returns a schema that is compiled at its first use.
CompiledSchema lazy_schema(std::shared_ptr<const SchemaSource> source, const GroupVersionKind& kind);
// Compiles the schema at once.
Result<CompiledSchema> compile_schema(const Object& schema, const GroupVersionKind& kind);

// The name of the type in OpenAPI documents: "com.example.v1.Widget".
std::string definition_name(const GroupVersionKind& kind);

}  // namespace backplane::apiextensions
