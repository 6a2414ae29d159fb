// A storage that says what a deletion of one of its objects is answered with: an optional interface beside those of rest.hpp.
//
// Thread-safety: any thread.
#pragma once

#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class DeletedObjectProvider {
 public:
  virtual ~DeletedObjectProvider();
  // Whether it is the object (upstream ReturnDeletedObject), not a Status.  OpenAPI says so too.
  virtual bool returns_deleted() const noexcept = 0;
};

}  // namespace BACKPLANE_API
