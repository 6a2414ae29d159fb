// Constraints of a structural schema in addition to its types: the keywords of OpenAPI v3 that custom resources may use.
//
// Thread-safety: immutable once compiled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "schema/old_items.hpp"
#include "text/regexp.hpp"

namespace backplane::schema {

class Type;

struct Constraints {
  bool typed = true;   // false: the schema names no type, and Type::form() only selects the keywords
  std::string format;  // "date-time", "int32", …
  std::optional<Value> default_value;
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool keeps_unknown = false;  // set for a whole custom resource: nothing is pruned, at any depth
  bool embedded_resource = false;
  bool additional_allowed = false;    // additionalProperties: true
  bool additional_forbidden = false;  // additionalProperties: false
  ListIdentity items;                 // how the items of a list are identified

  std::vector<std::string> required;
  std::vector<Value> enumeration;
  std::string pattern;
  std::unique_ptr<const re2::RE2> regex;  // null: no pattern
  std::optional<Value> minimum, maximum, multiple_of;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;

  std::vector<const Type*> all_of, any_of, one_of;
  const Type* not_schema = nullptr;
};

}  // namespace backplane::schema
