// Tables whose rows are not in the order of their list.
//
// Thread-safety: const and called from any thread.
#pragma once

#include <cstdint>

#include "backplane/json.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

// A TableConvertor that has an order for its rows is one of these, too.
class RowOrder {
 public:
  virtual ~RowOrder();
  // Rows stand by this number, the lowest first; those of the same number as the list has them.
  virtual std::int64_t place_of(const Object& object) const = 0;
};

}  // namespace BACKPLANE_API
