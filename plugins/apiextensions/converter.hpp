// Conversion strategy None: apiVersion changes, and each version's schema prunes and fills in.
//
// Thread-safety: immutable; any thread.
// Lifetime:      shares the resource.
// Errors:        kInternalError for a version that the resource has not got.
#pragma once

#include <memory>

#include "backplane/conversion.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

class NoneConverter final : public ObjectConverter {
 public:
  // Between `version` and the stored one.  Objects up to `refresh_until` were stored before the definition was last changed: they are read
  // through the schema anew.
  NoneConverter(std::shared_ptr<const CustomResource> resource, const CustomVersion& version, Revision refresh_until)
      : resource_(std::move(resource)), version_(version), refresh_until_(refresh_until) {}

  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const override;
  Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const override;
  Revision refresh_until() const noexcept override { return refresh_until_; }

 private:
  std::shared_ptr<const CustomResource> resource_;
  const CustomVersion& version_;
  Revision refresh_until_;
};

}  // namespace backplane::apiextensions
