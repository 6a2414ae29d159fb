// Asynchronous conversion of objects between the versions of a kind, in batches.
//
// Every kind has one stored version. The host converts between it and the version of the request; a converter need not support other
// pairs.
//
// Thread-safety: const; any number of concurrent calls.
// Lifetime:      shared with the storages made from it.
// Errors:        the error of the first object that cannot be converted; sent to the client unchanged.
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

// Set as ResourceConfig::converter if functions of the Scheme are not enough (conversion by webhook).
//
//   GET in v1 of an object stored as v2:  convert(v2, v1, {object})
//   PUT in v1:                            convert(v1, v2, {object}), and the stored object as v1 for field ownership
class ObjectConverter {
 public:
  virtual ~ObjectConverter();
  // Converts `objects` to version `to`; the result has the same length and order. The host sets kind and apiVersion and normalizes the
  // result, so members that `to` does not have may stay. Of metadata only labels and annotations may change.
  virtual Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const = 0;
  // The same for the ownership of fields (metadata.managedFields): without fields that convert() adds for readers, so that a field that
  // an apply has removed stays removed. The default calls convert().
  virtual Task<Result<std::vector<Object>>> convert_written(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const;
  // False: convert_written() equals convert(), so the host reuses objects that it has converted for readers.
  virtual bool writes_differ() const noexcept { return false; }
  // The name of a field label of `kind` in the stored version. Errors: kBadRequest `field label not supported: x`.
  virtual Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const = 0;
  // Objects written up to this revision are converted even if `from` equals `to`: the version's schema has changed since. 0: none.
  virtual Revision refresh_until() const noexcept { return 0; }
};

}  // namespace BACKPLANE_API
