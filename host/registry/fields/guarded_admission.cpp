#include "registry/fields/guarded_admission.hpp"

#include "registry/fields/managers.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kInvalid =
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; "
    "please fix your requests: ";

}  // namespace

Task<Status> guarded_admit(AdmissionRunner& runner, AdmissionAttributes& attributes, RequestContext& context, bool sorted_keys) {
  Object* const object = attributes.object;
  const Value* recorded = object != nullptr ? managed_fields_of(*object) : nullptr;
  Value before(context.arena());
  if (recorded != nullptr) before = Value(*recorded, context.arena());
  Status admitted = co_await runner.admit(attributes);
  if (!admitted.ok() || object == nullptr) co_return admitted;
  recorded = managed_fields_of(*object);
  if (recorded == nullptr || *recorded == before) co_return admitted;
  const auto readable = decode_managed(recorded);
  if (readable.ok()) co_return admitted;
  put_managed_fields(*object, std::move(before), sorted_keys);
  context.warn(std::string(kInvalid) + readable.status().message());
  co_return admitted;
}

}  // namespace backplane::registry
