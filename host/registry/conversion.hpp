// Converts objects of a resource between the stored version and one served version.
//
// Thread-safety: immutable; any thread.
// Lifetime:      shared by the storages of the served version; keeps its schemas.  An entry caches its converted object while the
//                conversion exists, if the entry has a free slot (ObjectEntry::publish_version).
// Errors:        the converter's; kInternalError for an object that its schema does not allow.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/rest/conversion.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::registry {

// A version, and the type of its objects.
struct VersionForm {
  GroupVersionKind kind;
  const Schema* schema = nullptr;
  std::shared_ptr<const SchemaSet> keep;
};

class Conversion : public std::enable_shared_from_this<Conversion> {
 public:
  Conversion(VersionForm served, VersionForm stored, std::shared_ptr<const ObjectConverter> converter);

  const VersionForm& served() const noexcept { return served_; }
  // True if the entry is in the served version already.
  bool shows(const ObjectEntry& entry) const noexcept;
  // Converts entries to the served version, in one batch for each version in which they are stored. An entry is converted once for all
  // readers and watches.  Null, and entries that are in the served version already, are returned unchanged.  An object that the schema does
  // not allow is returned as the converter has made it: an error would make all other objects of a list unreadable.
  Task<Result<std::vector<ObjectRef>>> shown(std::vector<ObjectRef> entries) const;
  // Converts one entry. Errors: kInternalError if the schema does not allow the object.
  Task<Result<ObjectRef>> shown(ObjectRef entry) const;
  // The bookmark `entry` with the kind and apiVersion of the served version.
  ObjectRef bookmark(const ObjectEntry& entry) const;

  // True if the stored object is in the served version already.
  bool shows(const Object& stored) const noexcept;
  // A copy of a stored object, converted to the served version.
  Task<Result<Object>> to_served(const Object& stored, json::storage_ptr storage) const;
  // As to_served(), but without members that the converter adds for readers only (ObjectConverter::convert_written).
  Task<Result<Object>> to_written(const Object& stored, json::storage_ptr storage) const;
  Task<Result<Object>> to_stored(Object served) const;
  Result<std::string> stored_field_label(std::string_view label) const;

 private:
  // The kind with the version of the object's apiVersion.
  GroupVersionKind version_of(const Object& object) const;
  Task<Result<std::vector<ObjectRef>>> show(std::vector<ObjectRef> entries, bool lenient) const;
  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, const VersionForm& to, std::vector<Object> objects, bool lenient) const;
  // Checks and completes the result of a conversion of `wanted` objects to `to`. `lenient`: an object that the schema does not allow is no
  // error.
  Result<std::vector<Object>> shaped(Result<std::vector<Object>> converted, const VersionForm& to, std::size_t wanted, bool lenient) const;
  ObjectRef entry_of(const ObjectEntry& entry, const Object& object) const;

  VersionForm served_;
  VersionForm stored_;
  std::shared_ptr<const ObjectConverter> converter_;
  bool sorted_;  // keys are sorted: custom resources
  std::string api_version_;
  std::string head_;  // the beginning of each object's JSON in the served version
};

}  // namespace backplane::registry
