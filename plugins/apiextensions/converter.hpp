// Conversion strategy None: apiVersion changes, the version's schema prunes, and what is read has the defaults of the version that it is
// stored in.
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
  // Between `version` and the stored one.  Objects that may not be as the definition has it now are read through it anew.
  NoneConverter(std::shared_ptr<const CustomResource> resource, const CustomVersion& version)
      : resource_(std::move(resource)), version_(version) {}

  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const override;
  Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const override;
  Revision refresh_until() const noexcept override { return resource_->refresh_until(); }

 private:
  std::shared_ptr<const CustomResource> resource_;
  const CustomVersion& version_;
};

}  // namespace backplane::apiextensions
