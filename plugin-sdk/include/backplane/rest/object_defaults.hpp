// The role of a storage that can set the defaults of its kind. An admission plugin that has changed an object uses it to set defaults, as
// the endpoints do for an object that a client sends.
//
//   const auto storage = host.find_storage(attributes.resource);
//   if (const auto* defaults = role_of<ObjectDefaulter>(storage.get())) defaults->set_defaults(object);
//
// Thread-safety: any executor.
// Lifetime:      like that of the storage.
// Errors:        none.
// Source:        runtime.ObjectDefaulter of admission.ObjectInterfaces.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class ObjectDefaulter {
 public:
  virtual ~ObjectDefaulter();
  // Sets the defaults of the schema and of the Strategy. Precondition: `object` is normalized and in the version that the storage serves.
  // Idempotent.
  virtual void set_defaults(Value& object) const = 0;
};

}  // namespace BACKPLANE_API
