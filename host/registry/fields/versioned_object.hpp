// An object converted to the versions in which its managers own fields.
//
// Thread-safety: belongs to one write.
// Lifetime:      borrows the FieldVersions; shares objects.
// Errors:        those of the conversions.
#pragma once

#include <memory>
#include <string>

#include "registry/fields/field_owners.hpp"

namespace backplane::registry {

struct VersionedObject {
  std::shared_ptr<const Object> object;
  std::string api_version;
};

// Refers to an object that the caller owns.
VersionedObject borrowed(const Object& object, std::string api_version);
VersionedObject owned(Object object, std::string api_version);

// The object in a version that is served; itself if it is of that version.
Task<Result<VersionedObject>> converted(const FieldVersions& versions, VersionedObject from, std::string api_version);

// `error` with `words`, the place of the error, before its message.
Status with_prefix(std::string_view words, const Status& error);

}  // namespace backplane::registry
