// Fields of built-in types that depend on feature gates (the keyword x-backplane-gate of docs/schema-words.md): a write drops them while
// their gates are off.
//
// Thread-safety: immutable; any thread.
// Lifetime:      needs the SchemaSet of the schema it was made of.
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
  // Whether a gate is on; called by of() only, once for each gate that the type names.
  using Gates = std::function<bool(std::string_view gate)>;

  // The effect of such gates on objects of the type; null: none.  Compiles the type and all it can hold.
  static std::unique_ptr<const GatedFields> of(const Schema& schema, const Gates& enabled);

  // Takes the members out of `object` whose gates are off and that `old` does not use (null: there was none), and gives those their
  // default that have one while the gate is on.  `object` may need canonical form afterwards.
  void apply(Object& object, const Object* old) const;

  ~GatedFields();
  struct Plan;

 private:
  explicit GatedFields(std::unique_ptr<const Plan> plan);
  std::unique_ptr<const Plan> plan_;
};

}  // namespace BACKPLANE_API
