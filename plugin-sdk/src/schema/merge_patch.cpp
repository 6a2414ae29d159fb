// RFC 7386.
#include "backplane/schema.hpp"
#include "schema/members.hpp"

namespace backplane BACKPLANE_API {

void merge_patch(Value& target, const Value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Object(target.storage());
  Object& object = target.get_object();
  for (const auto& member : patch.get_object()) {
    if (member.value().is_null()) {
      schema::drop_member(object, member.key());
    } else {
      // A member that is new gets the patch without its nulls.
      merge_patch(object.emplace(member.key(), nullptr).first->value(), member.value());
    }
  }
}

}  // namespace BACKPLANE_API
