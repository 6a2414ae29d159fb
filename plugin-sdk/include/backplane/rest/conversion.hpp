// Conversion of objects between the versions of a kind, as the host asks for it: many at once, and without waiting on a thread.
//
// Every kind has one version that is stored.  The host converts from it to the version that a request speaks, and back; a converter need
// not know other pairs.
//
// Thread-safety: const; any number of threads at once.
// Lifetime:      shared with the storages made from it.
// Errors:        of the first object that cannot be converted; sent as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/storage.hpp"

namespace backplane BACKPLANE_API {

class ObjectConverter {
 public:
  virtual ~ObjectConverter();
  // The objects in the form of `to`, as many and in the same order.  The host sets their kind and apiVersion and brings them into the
  // schema's canonical form afterwards: members that `to` does not have need not be taken out.  Metadata stays as it is, labels and
  // annotations excepted.
  virtual Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const = 0;
  // The same for the record of who manages which fields (metadata.managedFields): without fields that convert() adds for readers, so that a
  // field that an apply has removed stays removed.  The default is convert().
  virtual Task<Result<std::vector<Object>>> convert_written(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const;
  // False: convert_written() is convert(), and need not be called for objects that readers have seen.
  virtual bool writes_differ() const noexcept { return false; }
  // What the stored version calls a field label of `kind`.  Errors: kBadRequest `field label not supported: x`.
  virtual Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const = 0;
  // Objects written up to this revision are converted even where from and to are one version: its schema has changed since.
  virtual Revision refresh_until() const noexcept { return 0; }
};

}  // namespace BACKPLANE_API
