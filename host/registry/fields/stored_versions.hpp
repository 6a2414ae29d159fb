// The served versions of a resource for field management: the stored version, and the versions that are converted from it (views).
//
// Thread-safety: any thread; views may be added at any time.
// Lifetime:      shared by the stores of all versions. The version of a destroyed Conversion is no longer served.
// Errors:        those of the views' converters.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "registry/conversion.hpp"
#include "registry/fields/field_owners.hpp"

namespace backplane::registry {

class StoredVersions final : public FieldVersions {
 public:
  StoredVersions(const GroupVersionKind& stored, const Schema* schema) : stored_(stored.group_version().to_string()), schema_(schema) {}

  void add(const std::shared_ptr<const Conversion>& view);

  std::optional<const Schema*> type_of(const std::string& api_version) const override;
  // Returns the object without fields that a conversion adds for readers only.
  Task<Result<Object>> convert(const Object& object, std::string api_version) const override;
  bool serves(const std::string& api_version) const { return type_of(api_version).has_value(); }
  // The object as readers of `api_version` get it. Precondition: that version and the object's version are served.
  Task<Result<Object>> to_served(Object object, std::string api_version) const;

 private:
  // The object in the stored version.
  Task<Result<Object>> to_stored(Object object) const;
  std::shared_ptr<const Conversion> view_of(const std::string& api_version) const;

  const std::string stored_;
  const Schema* const schema_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Conversion>> views_;
};

// For resources that are served in one version: scales, and objects that are computed and not stored.
class OneVersion final : public FieldVersions {
 public:
  OneVersion(const GroupVersionKind& kind, const Schema* schema) : version_(kind.group_version().to_string()), schema_(schema) {}
  std::optional<const Schema*> type_of(const std::string& api_version) const override;
  Task<Result<Object>> convert(const Object& object, std::string api_version) const override;

 private:
  const std::string version_;
  const Schema* const schema_;
};

}  // namespace backplane::registry
