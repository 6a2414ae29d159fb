// The role of a storage that runs admission itself.
//
// The endpoints run admission for every write, around the storage's method.  A storage with this role is left out: it has run admission for
// each try of a write, with the object that it is about to store.  Every storage that Host::make_storage() and its relatives return has the
// role.  A storage that forwards its writes to one of those must have it as well; without it admission runs twice.
#pragma once

#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class AdmitsWrites {
 public:
  virtual ~AdmitsWrites();
};

}  // namespace BACKPLANE_API
