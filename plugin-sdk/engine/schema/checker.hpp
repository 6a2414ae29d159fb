// Traverses a typed object with the rules of its schema, with field.Error's messages.  Type::check() makes one Checker per call.
//
// check.cpp traverses the structs and selects the rules to check; check_values.cpp checks one value, check_lists.cpp the items of a list,
// check_structs.cpp the relations between members of a struct.
//
// Thread-safety: one call.
// Lifetime:      borrows both objects and the errors.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>
#include <string_view>

#include "backplane/types/deep_equal.hpp"
#include "schema/place.hpp"
#include "schema/scalars.hpp"
#include "schema/type.hpp"

namespace backplane::schema {

inline std::string_view text_of(const Value& value) noexcept {
  return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

inline std::string_view text_of(const Value* value) noexcept { return value != nullptr ? text_of(*value) : std::string_view(); }

inline std::int64_t number_of(const Value* value) noexcept { return value != nullptr && value->is_int64() ? value->get_int64() : 0; }

// `whole`: only an absent value counts as unset, and a zero value counts as set.
inline bool is_unset(const Value* value, bool whole) noexcept {
  return value == nullptr || value->is_null() || (!whole && is_zero(*value));
}

inline bool differ(const Value* a, const Value* b) { return !alike(a, b); }

// Type::check() of a structural schema: `part` of the object against its keywords (validate.cpp).
void check_structural(const Type& type, const Object& object, const Object* old, ObjectPart part, FieldErrors& errors);

class Checker {
 public:
  Checker(const Object& root, const Object* old_root, FieldErrors& errors) : root_(root), old_root_(old_root), errors_(errors) {}

  // `here`: rules for the struct at this position, in addition to the rules of its type; null: none.
  void check_struct(const Type& type, const Object& object, const Object* old, const Place& place, ObjectPart part,
                    const Rules* here = nullptr);

 private:
  // An object's members by property index; null: absent.
  using Members = boost::container::small_vector<const Value*, 48>;

  // ---- the walk (check.cpp)

  static Members members_of(const Body& body, const Object& object);
  // The path in errors about a member of the struct at `holder`.
  static Place place_of(std::string_view name, const Rules* rules, const Place& holder);
  void check_property(const Type& type, const Property& property, const Rules& rules, const Value* value, const Object& object,
                      const Object* old, const Place& holder);
  void drop_errors_at(const Place& place);
  // True if no rule applies to the value or its parts.
  bool is_closed(const Rules& rules, const Value* value, const Value* before, const Object& object, const Object* old) const;
  bool is_asked(const Rules& rules, const Value* value, const Object& object, const Object* old) const;
  // Like is_closed(), for a member of a struct that has the rules `here` at its position.
  bool is_closed_here(const Rules& here, std::string_view name, const Value* value, const Object& object, const Object* old) const;
  void descend(const Type& type, const Rules* rules, const Value& value, const Value* old, const Place& place, const Rules* here = nullptr);
  // Checks an item of a list, or an entry of a map.
  void check_item(const Body& holder, const Value& value, const Value* old, const Place& place, const Array* list = nullptr,
                  const Rules* here = nullptr);
  void check_members(const Type& type, const Rules& rules, const Object& object, const Object* old, const Place& place);
  void check_map(const Type& type, const Rules* rules, const Object& map, const Object* old, const Place& place);

  // ---- one value (check_values.cpp)

  void check_change(const Type& type, bool pointer, const Rules& rules, const Value* value, const Value* before, const Place& place);
  void check_not_set(const Type& type, const Rules& rules, const Object& object, const Value& value, const Place& place);
  // Checks for allowed values; the error quotes the enclosing struct.
  void check_choice(const Type& type, const Rules& rules, const Object& object, const Value* value, const Place& place);
  void check_set(const Property& property, const Rules& rules, const Value* value, const Place& place);
  void check_value(const Type& type, const Rules& rules, const Value* value, const Place& place);
  void check_raw(const Rules& rules, const Value& value, const Place& place);
  void check_label_selector(const Rules& rules, const Object& selector, const Place& place);
  // Checks a map as a whole, and its keys.
  void check_map_here(const Type& type, const Rules& rules, const Object& map, const Place& place);
  // `type`: of the text, or of the map that has it as a key.
  void check_text(const Type& type, const Rules& rules, std::string_view text, const Place& place);
  void check_plain_text(const Type& type, const Rules& rules, std::string_view text, const Place& place);
  // Adds the error of a text that is too long.
  void check_length(const Rules& rules, std::string_view text, const Place& place);
  void check_number(const Rules& rules, const Value* value, const Place& place);
  void check_number_or_percent(const Rules& rules, const Value* value, const Place& place);
  void check_quantity(const Rules& rules, const Value* value, const Place& place);
  // Checks that a map has exactly these keys.
  void check_entries(const Rules& rules, const Value* value, const Place& place);
  // Copies the mutable fields first, so that the rest can be compared as a whole.
  void check_fixed(const Type& type, const Fixed& fixed, const Value* value, const Value* before, const Place& place);

  // ---- lists and their items (check_lists.cpp)

  void check_list(const Type& type, const Rules* rules, const Array& list, const Value* old, const Place& place);
  // Checks the rules of a list's items at this position.
  void check_list_here(const Type& type, const Rules& rules, const Array& list, const Place& place);
  static bool is_too_long(const Rules& rules, const Value* value);
  void check_too_long(const Rules& rules, const Array& list, const Place& place);
  void check_families(const Rules& rules, const Array& list, const Place& place);
  // The error quotes the whole list.
  void check_allowed_item(const Rules& rules, const Value& item, const Array& list, const Place& place);
  void check_named(const Rules& rules, const Array& list, const Place& place);
  void check_alone(const Rules& rules, const Array& list, const Place& place);
  void check_unique(const Rules& rules, const Array& list, const Place& place);
  // The error about a value that several members repeat is reported for one of them.
  void check_unique_member(const Rules& rules, const Array& list, const Place& place);
  void check_unique_together(const Type& items, const Rules& rules, const Array& list, const Place& place);

  // ---- members of a struct together (check_structs.cpp)

  static bool is_alternative(const Property& property, const StructRules& rules);
  // Returns the selected alternative if the struct is a union.
  std::string_view check_together(const Type& type, const StructRules& rules, const Object& object, const Members& members,
                                  const Object* old, const Place& place);
  std::string_view check_union(const Body& body, const StructRules& rules, const Object& object, const Members& members,
                               const Place& place);
  std::string_view check_named_union(const StructRules& rules, const Object& object, const Place& place);
  void check_frozen(const StructRules& rules, const Object& object, const Object& old, const Place& place);
  void check_thawed(const Type& type, const StructRules& rules, const Object& object, const Object& old, const Place& place);
  void check_any(const StructRules& rules, const Object& object, const Place& place);
  void check_limits(const StructRules& rules, const Object& object, const Place& place);
  void check_blames(const Type& type, const StructRules& rules, const Object& object, const Place& place);
  // {low} and {high} of the text are the two amounts.
  void check_order(const StructRules::Order& order, const Object& object, const Place& place);
  void check_keys(const StructRules::Keys& rule, const Object& object, const Place& place);
  void check_distinct(const StructRules& rules, const Object& object, const Place& place);
  void check_size(const Type& type, const StructRules& rules, const Object& object, const Place& place);

  const Object& root_;
  const Object* old_root_;
  FieldErrors& errors_;
};

}  // namespace backplane::schema
