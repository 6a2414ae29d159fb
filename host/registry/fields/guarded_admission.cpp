#include "registry/fields/guarded_admission.hpp"

#include <optional>

#include "backplane/core/json_access.hpp"
#include "engine/raw_json.hpp"
#include "registry/fields/entry_update.hpp"
#include "registry/fields/managers.hpp"
#include "registry/fields/raw_managers.hpp"
#include "registry/fields/sorted_members.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kInvalid =
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; "
    "please fix your requests: ";

Value* find_managed_fields(Object& object) noexcept { return const_cast<Value*>(managed_fields_of(object)); }

// Returns `object` if its managedFields are parsed; otherwise sets `copy` to a copy in which they are, and returns that.
const Object* whole(const Object* object, std::optional<Object>& copy) {
  if (object == nullptr || !has_raw_managers(*object)) return object;
  expand_managers(copy.emplace(*object, object->storage()));
  return &*copy;
}

// While an object of this class exists, the objects of the attributes have parsed managedFields.
class WholeTrees {
 public:
  explicit WholeTrees(AdmissionAttributes& attributes)
      : attributes_(attributes), object_(attributes.object), old_object_(attributes.old_object) {
    attributes_.object = const_cast<Object*>(whole(object_, whole_object_));
    attributes_.old_object = whole(old_object_, whole_old_);
  }
  WholeTrees(const WholeTrees&) = delete;
  WholeTrees& operator=(const WholeTrees&) = delete;
  ~WholeTrees() {
    attributes_.object = object_;
    attributes_.old_object = old_object_;
  }

 private:
  AdmissionAttributes& attributes_;
  Object* const object_;
  const Object* const old_object_;
  std::optional<Object> whole_object_, whole_old_;
};

void sort_metadata(Object& object) {
  if (Value* metadata = find(object, "metadata")) sort_members(*metadata);
}

}  // namespace

Task<Status> guarded_admit(AdmissionRunner& runner, AdmissionAttributes& attributes, RequestContext& context, bool sorted_keys) {
  // Plugins that do not read managedFields do not change them.
  if (!runner.reads_managed_fields(attributes)) co_return co_await runner.admit(attributes);
  Object* const object = attributes.object;
  const Object* const old = attributes.old_object;
  // The namespace may have been added at the end of metadata. Metadata is sorted, because upstream's custom resources are Go maps, which
  // are printed sorted.
  if (sorted_keys && object != nullptr) sort_metadata(*object);
  Value before(context.arena());
  if (const Value* recorded = object != nullptr ? managed_fields_of(*object) : nullptr) before = *recorded;
  std::optional<Object> whole_old;
  if (object != nullptr) expand_managers(*object);
  attributes.old_object = whole(old, whole_old);
  Status admitted = co_await runner.admit(attributes);
  attributes.old_object = old;
  if (!admitted.ok() || object == nullptr) co_return admitted;
  Value* const recorded = find_managed_fields(*object);
  if (recorded == nullptr) co_return admitted;
  fold_managers(before);
  fold_managers(*recorded);
  if (same_encoding(before, *recorded)) co_return admitted;
  const auto readable = decode_managed(recorded);
  if (readable.ok()) co_return admitted;
  put_managed_fields(*object, std::move(before), sorted_keys);
  context.warn(std::string(kInvalid) + readable.status().message());
  co_return admitted;
}

Task<Status> guarded_validate(AdmissionRunner& runner, AdmissionAttributes& attributes) {
  if (!runner.reads_managed_fields(attributes)) co_return co_await runner.validate(attributes);
  const WholeTrees shown(attributes);
  co_return co_await runner.validate(attributes);
}

Task<Result<WriteAdmission::Begun>> guarded_begin(WriteAdmission& runner, AdmissionAttributes& attributes) {
  if (!runner.reads_managed_fields(attributes)) co_return co_await runner.begin(attributes);
  const WholeTrees shown(attributes);
  co_return co_await runner.begin(attributes);
}

}  // namespace backplane::registry
