// Fields of built-in types that depend on feature gates (the keyword x-backplane-gate of docs/schema-words.md): a write drops them while
// their gates are off.
//
// Thread-safety: immutable; any thread.
// Lifetime:      borrows the SchemaSet of the schema from which it was made.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

class GatedFields {
 public:
  // Returns whether a gate is on. Only of() calls it, once for each gate that the type names.
  using Gates = std::function<bool(std::string_view gate)>;

  // The effect of the gates on objects of the type; null if there is none. Compiles the type and all types that it contains.
  static std::unique_ptr<const GatedFields> of(const Schema& schema, const Gates& enabled);

  // Removes the members of `object` whose gates are off and that `old` (null: a new object) does not use, and sets the defaults of members
  // that have one only while their gate is on. The caller may have to bring `object` into canonical form afterwards.
  void apply(Object& object, const Object* old) const;

  ~GatedFields();
  struct Plan;

 private:
  explicit GatedFields(std::unique_ptr<const Plan> plan);
  std::unique_ptr<const Plan> plan_;
};

}  // namespace BACKPLANE_API
