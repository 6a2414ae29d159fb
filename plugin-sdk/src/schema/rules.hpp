// What x-backplane-rules say of one property, item or struct, beyond its type.  Beside the words that backplane/schema.hpp lists there are
// `members` and `holder`, for the odd places of upstream's messages.
//
// Thread-safety: immutable once compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/names.hpp"

namespace backplane::schema {

enum class NumberFormat : unsigned char { kNone, kPort, kPortOrName };

// Rules of a property's value, or of each item of a list or map.
struct Rules {
  bool required = false;
  std::string required_text;
  bool goes_on = false;  // the other rules are asked of what is required and missing, too
  // Unset values are looked at, too; nothing: when output prints them ("x-backplane-omit": "never").
  std::optional<bool> optional;
  std::vector<std::string> allowed;
  std::string allowed_text;  // not empty: said in place of the list
  std::optional<std::int64_t> minimum, maximum;
  std::string range_text;
  Problems (*format)(std::string_view) = nullptr;
  NumberFormat number = NumberFormat::kNone;
  bool not_negative = false;  // quantities
  bool positive = false;      // quantities
  std::optional<std::int64_t> max_length;
  bool immutable = false;
  std::string immutable_text;
  bool on_create = false;     // what is in it can never change, and is looked at once
  bool opaque = false;        // nothing in it is looked at
  std::string unique;         // member that no two items share
  bool unique_items = false;  // no two items are the same
  bool whole_list = false;    // what is wrong with an item is said of the list
  bool holder = false;        // what is wrong with the value is said of what holds it
  // "members": {name: rules}: rules for members of this struct in this place; others may hold the same struct to other rules.
  std::vector<std::pair<std::string, std::unique_ptr<Rules>>> members;
  std::unique_ptr<Rules> keys;  // of a map's keys
};

// Rules on the members of a struct together.
struct StructRules {
  // One of several: at most one, or exactly one.
  bool is_union = false;
  std::vector<std::string> union_except;  // struct members that are none of the alternatives
  std::string none_text, many_text;       // none_text empty: there may be none
  // When `frozen_by` is true in the old object it stays so, and the members keep their values.
  std::string frozen_by;
  std::vector<std::string> frozen;
  // Bytes of the values of the maps together.
  std::vector<std::string> counted;
  std::int64_t max_bytes = 0;
  std::string counted_path;
  // Keys of the first map that are none of the second's.
  std::string distinct, distinct_from;
};

}  // namespace backplane::schema
