// The parts of strategic merge patch: objects (strategic_merge.cpp) and lists (strategic_lists.cpp).
//
// Lists of a "merge" property are merged by their key instead of replaced; members that begin with '$' are directives.
// Errors: kNone (500) with upstream's text for an impossible patch; kBadRequest for malformed directives.
#pragma once

#include <string>
#include <string_view>

#include "schema/type.hpp"

namespace backplane::schema::strategic {

inline constexpr std::string_view kDirective = "$patch";
inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList";
inline constexpr std::string_view kSetOrder = "$setElementOrder";

// The merge keywords of one member of an object's type.
struct Member {
  const Type* type = nullptr;  // the type of the member; for a list, the type of its items
  const Property* property = nullptr;
  std::string_view merge_key() const noexcept { return property->merge_key; }
};

inline Status failure(std::string message) { return Status(500, Reason::kNone, std::move(message)); }
inline bool is(const Value* value, std::string_view text) noexcept { return value && value->is_string() && value->get_string() == text; }
inline const Value* directive_of(const Value& value) noexcept { return value.is_object() ? find(value.get_object(), kDirective) : nullptr; }
Status bad_directive(const Value& directive, const Value& holder);
// reflect's name for a value's type: "map[string]interface {}".
std::string_view go_type_of(const Value& value) noexcept;

// Merges `patch` into `original`, both of type `type` (which may be unknown).
Status merge_object(Object& original, Object patch, const Type* type);
// `deletions`: the patch is a $deleteFromPrimitiveList.
Status merge_list(Array& original, Array patch, const Member& member, bool deletions);

// Checks that the items of a patch list are in the order of its $setElementOrder list, and that this list names all of them.
Status check_order(const Array& patch, const Array& order, std::string_view merge_key);
// Checks that all items have one JSON type; `maps`: whether they are objects.
Status check_items(const Array& one, const Array& other, bool& maps);
// The merged items in their final order: those in `wanted` in its order, the others inserted by the live order.
Status merge_order(Array& merged, const Array& wanted, const Array& live, std::string_view merge_key);

}  // namespace backplane::schema::strategic
