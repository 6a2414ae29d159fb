// RFC 7386 with the behaviour of the library that upstream uses: a value that replaces anything but an object loses its nulls at every
// depth, including those of objects in lists.
#include <string>
#include <vector>

#include "backplane/types/schema.hpp"
#include "engine/raw_json.hpp"
#include "schema/members.hpp"

namespace backplane BACKPLANE_API {
namespace {

void prune_nulls(Value& value) {
  open_raw(value);
  if (Object* object = value.if_object()) {
    std::vector<std::string> nulls;
    for (auto& member : *object) {
      if (member.value().is_null()) nulls.emplace_back(member.key());
      prune_nulls(member.value());
    }
    for (const std::string& key : nulls) schema::drop_member(*object, key);
  } else if (!is_raw(value) && value.is_array()) {
    for (Value& item : value.get_array()) prune_nulls(item);
  }
}

}  // namespace

void merge_patch(Value& target, const Value& patch) {
  if (is_raw(patch) && raw_text(patch).starts_with('{')) {
    Value opened(patch, target.storage());
    open_raw(opened);
    return merge_patch(target, opened);
  }
  open_raw(target);
  if (!target.is_object()) {
    target = patch;
    return prune_nulls(target);
  }
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  Object& object = target.get_object();
  for (const auto& member : patch.get_object()) {
    if (member.value().is_null()) {
      schema::drop_member(object, member.key());
    } else {
      merge_patch(object.emplace(member.key(), nullptr).first->value(), member.value());
    }
  }
}

}  // namespace BACKPLANE_API
