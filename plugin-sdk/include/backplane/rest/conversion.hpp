// Asynchronous conversion of objects between the versions of a kind, in batches.
//
// Every kind has one stored version. The host converts only between the stored version and the version of a request, so a converter need
// not support other pairs of versions.
//
// Thread-safety: const; any number of concurrent calls.
// Lifetime:      shared with the storages whose ResourceConfig contains it.
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

// Set it as ResourceConfig::converter if functions of the Scheme are not sufficient (conversion by webhook).
//
//   GET in v1 of an object stored as v2:  convert(v2, v1, {object})
//   PUT in v1:                            convert(v1, v2, {object}), and the stored object as v1 for field ownership
class ObjectConverter {
 public:
  virtual ~ObjectConverter();
  // Converts `objects` to the version `to`. The result has the same length and order as `objects`. The host sets kind and apiVersion of the
  // result, and removes members that the version `to` does not have. Within metadata, only labels and annotations may change.
  virtual Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const = 0;
  // Like convert(), for the ownership of fields (metadata.managedFields). The result must not contain fields that convert() adds for
  // readers only; otherwise a field that an apply has removed would reappear. The default calls convert().
  virtual Task<Result<std::vector<Object>>> convert_written(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const;
  // False: the results of convert_written() and convert() are equal, so the host reuses objects that it has converted for readers.
  virtual bool writes_differ() const noexcept { return false; }
  // Returns the stored version's name of a field label of `kind`. Errors: kBadRequest `field label not supported: x`.
  virtual Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const = 0;
  // Objects written up to this revision are converted even if `from` equals `to`, because the version's schema has changed since that
  // revision. 0: there are no such objects.
  virtual Revision refresh_until() const noexcept { return 0; }
};

}  // namespace BACKPLANE_API
