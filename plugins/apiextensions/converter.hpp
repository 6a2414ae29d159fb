// Conversion between the versions of a custom resource. Strategy None changes only apiVersion; strategy Webhook calls the webhook. Before
// the conversion for readers, both complete the object: they prune it and set the defaults of the version that it is stored in.
//
// Thread-safety: immutable; any thread.
// Lifetime:      shares the resource.
// Errors:        kInternalError for a version that the resource does not have; those of the webhook.
#pragma once

#include <memory>

#include "backplane/rest/conversion.hpp"
#include "conversion_webhook.hpp"
#include "custom_resource.hpp"

namespace backplane::apiextensions {

class CustomConverter final : public ObjectConverter {
 public:
  // Converts between `version` and the stored version. `webhook`: null for strategy None.
  CustomConverter(std::shared_ptr<const CustomResource> resource, const CustomVersion& version, std::shared_ptr<ConversionWebhook> webhook)
      : resource_(std::move(resource)), version_(version), webhook_(std::move(webhook)) {}

  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const override;
  Task<Result<std::vector<Object>>> convert_written(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const override;
  bool writes_differ() const noexcept override { return true; }
  Result<std::string> stored_field_label(const GroupVersionKind& kind, std::string_view label) const override;
  Revision refresh_until() const noexcept override { return resource_->refresh_until(); }

 private:
  std::shared_ptr<const CustomResource> resource_;
  const CustomVersion& version_;
  std::shared_ptr<ConversionWebhook> webhook_;
};

}  // namespace backplane::apiextensions
