// An object converted to the versions in which its managers own fields.
//
// Thread-safety: belongs to one write.
// Lifetime:      borrows the FieldVersions; shares objects. An object of borrowed() lives as long as the caller's.
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

// A VersionedObject that refers to `object` and does not own it.
VersionedObject borrowed(const Object& object, std::string api_version);
VersionedObject owned(Object object, std::string api_version);

// Converts `from` to `api_version`, which is served; returns `from` if it already has that version.
Task<Result<VersionedObject>> converted(const FieldVersions& versions, VersionedObject from, std::string api_version);

// `error` with `words` before its message; `words` name the failed step.
Status with_prefix(std::string_view words, const Status& error);

}  // namespace backplane::registry
