#include "objects/owner_changes.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/deep_equal.hpp"

namespace backplane::admission::objects {
namespace {

bool blocks(const Object& owner) { return get_bool(owner, "blockOwnerDeletion").value_or(false); }

// If several owners have the uid, returns the last one, as a Go map by uid does.
const Object* owner_with_uid(const Object& metadata, std::string_view uid) {
  const Object* found = nullptr;
  each(metadata, "ownerReferences", [&](const Object& owner, std::size_t) {
    if (get_string(owner, "uid") == uid) found = &owner;
  });
  return found;
}

}  // namespace

bool changes_owner_references(const Object& object, const Object* old) {
  const Object& metadata = object_or_empty(object, "metadata");
  if (old == nullptr) return count_of(metadata, "ownerReferences") > 0;
  return !alike(find(metadata, "ownerReferences"), find(object_or_empty(*old, "metadata"), "ownerReferences"));
}

std::vector<const Object*> new_blocking_owners(const Object& object, const Object* old) {
  std::vector<const Object*> found;
  each(object_or_empty(object, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    if (!blocks(owner)) return;
    const Object* before = old == nullptr ? nullptr : owner_with_uid(object_or_empty(*old, "metadata"), get_string(owner, "uid"));
    if (before == nullptr || !blocks(*before)) found.push_back(&owner);
  });
  return found;
}

}  // namespace backplane::admission::objects
