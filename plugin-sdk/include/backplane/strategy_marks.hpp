// What a strategy says of itself by what it is, beside Strategy.
//
// Thread-safety: marks, nothing else.
#pragma once

#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

// Of a subresource: its objects are not shown as tables, since upstream's storage of it has no printer.  One that asks for a Table alone is
// refused (406).
class WithoutTables {
 public:
  virtual ~WithoutTables();
};

// The garbage collector knows no objects of the kind: deletes ask it for nothing, whatever they say of dependents.
class WithoutDependents {
 public:
  virtual ~WithoutDependents();
};

}  // namespace BACKPLANE_API
