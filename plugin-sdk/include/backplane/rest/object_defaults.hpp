// The role of a storage that sets the defaults of its kind: for admission plugins that have changed an object and must complete it, as
// the endpoints complete what a client sends.
//
//   const auto storage = host.find_storage(attributes.resource);
//   if (const auto* defaults = role_of<ObjectDefaulter>(storage.get())) defaults->set_defaults(object);
//
// Thread-safety: any executor.
// Lifetime:      that of the storage.
// Errors:        none.
// Source:        runtime.ObjectDefaulter of admission.ObjectInterfaces.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class ObjectDefaulter {
 public:
  virtual ~ObjectDefaulter();
  // Sets the defaults of the schema and of the Strategy. `object`: normalized, in the version that the storage serves. Idempotent.
  virtual void set_defaults(Value& object) const = 0;
};

}  // namespace BACKPLANE_API
