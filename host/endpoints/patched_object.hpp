// The UpdatedObjectInfo of a patch. The storage calls updated_object() for each attempt of an update, and the patch is applied to the
// object that is stored at that time.
//
// Thread-safety: one request, one executor.
// Lifetime:      shorter than the request; borrows the resource.
// Errors:        404 if the object does not exist. 400 if the patch cannot be parsed, or changes name or namespace. 413 and 422.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/resource.hpp"
#include "registry/sent_values.hpp"

namespace backplane::endpoints {

enum class PatchType : unsigned char { kJson, kMerge, kStrategic };

class PatchedObject final : public UpdatedObjectInfo, public registry::SentValues {
 public:
  PatchedObject(const Resource& resource, PatchType type, std::string patch, FieldValidation validation)
      : resource_(resource), type_(type), text_(std::move(patch)), validation_(validation) {}

  ClientWrite* client_write() noexcept override { return this; }
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;
  Result<Value> sent(RequestContext& context, const Object& existing) const override;
  // Returns the patch as the client sent it.
  const std::string& text() const noexcept { return text_; }

 private:
  Status parse(RequestContext& context);
  void keep_sent(Value& patch) const;
  Status apply(Value& target) const;
  Result<Object> patch(RequestContext& context, const Object& existing);
  // Converts the patched tree to an object of the resource's kind.
  Status decode(RequestContext& context, Value& target) const;
  Status check_kind(const Value& target) const;
  bool has_no_version(const Value& target) const;
  Status without_version(RequestContext& context, const Value& target) const;
  Status check_custom_kind(const RequestContext& context, const GroupVersionKind& declared, const Object& object) const;
  // Returns 422 for an invalid patched object.
  Status refused(const Value& target, std::string_view why) const;
  std::string patched_text(const Value& target) const;
  Value in_order(const Value& target) const;
  void put_in_order(const Value& decoded, std::vector<std::string>& problems) const;

  const Resource& resource_;
  const PatchType type_;
  const std::string text_;
  const FieldValidation validation_;
  std::optional<Value> patch_;               // set by the first attempt
  std::vector<std::string> patch_problems_;  // errors about repeated fields of the patch
  const Object* patched_ = nullptr;          // the object to which the current attempt applies the patch
};

}  // namespace backplane::endpoints
