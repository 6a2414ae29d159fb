// Conversion of objects as they were written, for the record of who manages which fields (metadata.managedFields).
//
// A role beside ObjectConverter: the host asks each converter for it once, by dynamic_cast.  One that has not got it converts what is
// written as what is read.
// Thread-safety: const; any number of threads at once.
// Lifetime:      the converter's.
// Errors:        the converter's.
#pragma once

#include <vector>

#include "backplane/json.hpp"
#include "backplane/meta.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class WrittenConverter {
 public:
  virtual ~WrittenConverter();
  // As ObjectConverter::convert, without what readers are shown beside what is there: a field that an apply has taken away stays away.
  virtual Task<Result<std::vector<Object>>> convert_written(GroupVersionKind from, GroupVersionKind to,
                                                            std::vector<Object> objects) const = 0;
};

}  // namespace BACKPLANE_API
