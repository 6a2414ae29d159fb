// PATCH with a configuration to apply, as YAML (of which JSON is a part) or CBOR.
//
// Thread-safety: one request, one executor.
// Lifetime:      shorter than the request; borrows the resource.
// Errors:        400 for a configuration that cannot be read, or has another name or namespace; 409 for a uid if the object does not exist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "endpoints/body.hpp"
#include "registry/fields/applied_object.hpp"

namespace backplane::endpoints {

class AppliedPatch final : public registry::AppliedObject {
 public:
  AppliedPatch(const Resource& resource, std::string text, BodyFormat format, const WriteOptions& options)
      : AppliedObject(options.field_manager, options.force.value_or(false)),
        resource_(resource),
        text_(std::move(text)),
        format_(format),
        validation_(options.field_validation) {}

  Result<const Object*> configuration(RequestContext& context) override;
  Status accept(RequestContext& context, Object& object, const Object* existing) override;
  Task<Status> may_create(RequestContext& context) override;
  // The configuration as it was sent.
  const std::string& text() const noexcept { return text_; }

 private:
  Status parse(RequestContext& context);
  Status check_problems(RequestContext& context) const;

  const Resource& resource_;
  const std::string text_;
  const BodyFormat format_;
  const FieldValidation validation_;
  std::optional<Object> configuration_;  // parsed by the first attempt
  std::vector<std::string> problems_;    // repeated members
  std::optional<Status> may_create_;
};

}  // namespace backplane::endpoints
