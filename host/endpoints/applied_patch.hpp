// A PATCH request with an apply configuration (server-side apply), as YAML, JSON or CBOR.
//
// Thread-safety: one request, one executor.
// Lifetime:      shorter than the request; borrows the resource.
// Errors:        400 if the configuration cannot be parsed or has another name or namespace. 409 if it has a uid and the object does not
//                exist.
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
  // Returns the configuration as the client sent it.
  const std::string& text() const noexcept { return text_; }

 private:
  Status parse(RequestContext& context);
  Status check_problems(RequestContext& context) const;

  const Resource& resource_;
  const std::string text_;
  const BodyFormat format_;
  const FieldValidation validation_;
  std::optional<Object> configuration_;  // set by the first call of parse()
  std::vector<std::string> problems_;    // errors about repeated members
  std::optional<Status> may_create_;
};

}  // namespace backplane::endpoints
