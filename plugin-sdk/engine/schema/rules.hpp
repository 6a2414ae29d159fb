// x-backplane-rules of one property, item or struct, in addition to its type: the keywords that backplane/types/schema.hpp lists.
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

#include "backplane/core/json.hpp"
#include "backplane/types/names.hpp"

namespace backplane::schema {

// The path of a member: relative to a struct, or to the whole object.
struct MemberPath {
  std::vector<std::string> names;
  bool from_root = false;
};

// A condition on a member, on which a rule of another member depends.
struct Condition {
  MemberPath member;
  std::vector<Value> values;                 // the member has one of these values; true: any value, false: no value
  bool (*is)(const Value* value) = nullptr;  // replaces `values`: a test of the member's value
  std::optional<MemberPath> as;              // replaces both: the member equals the value at this path
};

// Several sets of conditions. All conditions of at least one set must hold.
using Conditions = std::vector<std::vector<Condition>>;

// A struct that is immutable except for some of its members.
struct Fixed {
  struct Change {
    MemberPath member;
    Conditions when, when_was;  // conditions on the new struct, and on the old struct
    bool shows_new = false;     // a difference in another field is reported with the new value, not the old one
  };
  std::string text;
  std::string as;  // only the members of this definition are compared; empty: those of the struct
  std::vector<Change> may;
};

enum class NumberFormat : unsigned char { kNone, kPort, kPortOrName, kIntOrPercent };

// Rules of a property's value, or of each item of a list or map.
struct Rules {
  Conditions when, unless, when_was, unless_was, unless_item;
  bool again = false;  // updates are checked twice
  bool required = false;
  std::string required_text;
  std::string forbidden, refused, missing, once, stays, rising, single, wrong;  // error texts; empty: not checked
  bool goes_on = false;  // the other rules are checked even if a required value is missing
  std::unique_ptr<Fixed> fixed;
  // True: unset values are not checked. False: they are checked. nullopt: they are checked if output prints them ("x-backplane-omit":
  // "never").
  std::optional<bool> optional;
  std::vector<std::string> allowed;
  std::vector<std::string> allowed_names;  // not empty: errors list these texts instead of `allowed`
  std::string allowed_text;                // not empty: errors print this text instead of the list
  bool or_qualified = false;               // a name with a domain is allowed, too
  std::optional<std::int64_t> minimum, maximum;
  std::string range_text;
  Problems (*format)(std::string_view) = nullptr;
  bool domain_path = false;     // a text: a domain followed by a path
  bool trims_dot = false;       // the trailing dot of a name is removed before the check
  bool keeps = false;           // a value that the format refuses may replace another such value
  bool lowered = false;         // a text is checked and quoted in lower case
  bool joined = false;          // the problems of the format are joined into one error
  std::string non_empty;        // not empty: the error of an empty text
  bool label_selector = false;  // structs
  std::string selector_text;    // not empty: an additional error of an invalid selector
  std::optional<std::int64_t> max_percent;
  std::optional<std::int64_t> max_items;  // the maximum length of a list; the items of a longer list are not checked
  std::string max_items_text;             // not empty: the error of a longer list, instead of "Too many"
  NumberFormat number = NumberFormat::kNone;
  bool labels = false;                      // a map
  bool conditions = false;                  // a list of metav1.Condition
  std::optional<std::int64_t> max_entries;  // the maximum number of a map's entries
  std::optional<std::int64_t> max_bytes;    // the maximum size of a map's keys and values together
  bool not_negative = false;                // quantities
  bool positive = false;                    // quantities
  bool counted = false;                     // in a map of quantities, keys of countable resources must have integers
  std::optional<std::int64_t> max_length;
  std::string length_text;           // not empty: the error of a longer text
  std::vector<std::string> entries;  // a map must have exactly these keys
  bool json_object = false;          // raw values
  std::string json_object_text;      // not empty: a text that is not a JSON object counts as missing, with this error
  bool immutable = false;
  std::string immutable_text;
  bool as_set = false;              // an immutable list may change its order and its repetitions
  bool unquoted = false;            // the error does not quote the new value
  bool as_go = false;               // a struct that has changed is quoted as Go prints it
  bool when_changed = false;        // values that an update does not change are not checked
  bool on_create = false;           // the content of the value never changes, and is checked on create only
  bool opaque = false;              // the content of the value is not checked
  std::vector<std::string> unique;  // no two items have equal values of these members
  bool unique_items = false;        // no two items are equal
  std::string unique_text;
  bool empty_too = false;  // two items in which these members are empty are refused, too
  std::string unique_at;   // the member that the error names; items without this member are skipped
  std::string per_family;  // not empty: the items are addresses or ranges, at most one of each family; the error of a second one
  std::string named;       // a member that must be set in every item if there are several
  std::string alone;       // not empty: `alone_item` must be the only item; the error of a list with other items
  std::string alone_item = "*";
  bool alone_forbidden = false;  // the type of that error is Forbidden
  bool whole_list = false;       // errors of an item are reported for the list
  bool as_members = false;       // errors of a map's entry have the path of a member (.name)
  bool instead = false;          // earlier errors of the value are dropped
  bool holder = false;           // errors of the value are reported for its holder
  bool whole = false;            // with `holder`: the error quotes the holder
  std::string path;              // the field of the error; with a leading dot: a member of the enclosing value
  // "members": {name: rules}: rules for members of this struct at this place; other uses of the struct may have other rules.
  std::vector<std::pair<std::string, std::unique_ptr<Rules>>> members;
  std::unique_ptr<Rules> keys;   // rules of a map's keys
  std::unique_ptr<Rules> items;  // rules of a list's items at this position
  std::unique_ptr<Rules> next;   // rules that are checked after these rules
};

// Rules that relate several members of a struct.
struct StructRules {
  // The members are alternatives, of which at most one, or exactly one, may be set.
  bool is_union = false;
  std::vector<std::string> union_except;                      // struct members that are not alternatives
  std::vector<std::string> union_order;                       // alternatives that are tested first, in this order
  std::vector<std::pair<std::string, std::string>> union_as;  // alternatives that errors name differently; empty: may be set with others
  std::string none_text, many_text;                           // none_text empty: no alternative need be set
  // For a union whose alternative a member selects: the member `union_by`, and pairs of its value and the alternative.
  std::string union_by;
  std::vector<std::pair<std::string, std::string>> union_of;
  // If the member `frozen_by` is true in the old object, `frozen_by` and the members `frozen` must not change.
  std::string frozen_by;
  std::vector<std::string> frozen;
  // All members except `thawed` are immutable; frozen_text empty: not checked.
  std::vector<std::string> thawed;
  std::string frozen_text;
  // Limits the total size of the values of the maps `counted`, in bytes.
  std::vector<std::string> counted;
  std::int64_t max_bytes = 0;
  std::string counted_path;
  // Comparisons of numbers with another member.
  struct Limit {
    enum class Side : unsigned char { kNotAbove, kNotBelow, kAbove };
    Side side = Side::kNotAbove;
    std::vector<std::string> members;
    std::string limit, text;
    bool quotes_limit = false;  // instead of the wrong number
  };
  std::vector<Limit> limits;
  // Errors of the struct itself.
  struct Blame {
    enum class Kind : unsigned char { kRequired, kInvalid, kForbidden };
    Conditions when, unless;
    Kind kind = Kind::kInvalid;
    std::string text;
    std::string quotes;          // kInvalid: the member that is quoted; empty: `shows`
    std::string shows = "\"\"";  // quoted if `quotes` is empty, as JSON
    bool whole = false;          // kInvalid: the struct is quoted, as Go prints it
  };
  std::vector<Blame> blames;
  // Members (dotted paths if nested) of which exactly one must be set.
  std::vector<std::string> any_of;
  std::string any_text;
  Conditions any_when;
  // Quantities of a map that must not exceed those of another map.
  struct Order {
    std::string low, high, text;
    bool blames_high = false, shows_high = false;
  };
  std::vector<Order> orders;
  // Keys of the first map that the second map must not have.
  std::string distinct, distinct_from;
  // Keys that a map must have.
  struct Keys {
    Conditions when;
    std::string map;  // dotted, if nested
    std::vector<std::string> there, filled, one_of;
  };
  std::vector<Keys> keys;
};

// x-backplane-default-when, x-backplane-default-from and x-backplane-default-fills.
struct ConditionalDefault {
  Conditions when;   // empty: always
  std::string from;  // empty: the default is constant
  bool fills = false;
};

// Changes of a member in addition to its default.
struct Derived {
  Conditions dropped;                                        // the member is removed if this condition holds
  std::string list;                                          // this list's first item is another name of the same field
  std::string into;                                          // the entries of the member are moved to this map
  std::vector<std::string> from;                             // maps whose entries are added for missing keys
  Conditions when;                                           // the condition of `from`; empty: always
  std::vector<std::pair<std::string, Value>> item_keywords;  // members that each item of the list gets, regardless of the sent ones
  bool thousandths = false;                                  // quantities in the member are rounded up to whole thousandths
};

// x-backplane-gate: the effect of a feature gate on a member.
struct Gated {
  std::vector<std::string> gates;        // all of them must be on
  bool together = false;                 // all members with these gates are one feature: an object that uses one of them may use all
  bool holder = false;                   // an enclosing struct without other members is removed, too
  std::string having;                    // for a struct, which is removed only if this member of it is set
  std::vector<std::string> also;         // other members that also count as a use of the feature
  std::vector<Value> except;             // values that need no gate
  const Value* default_value = nullptr;  // while the gates are on; null: none
};

// The value at the path; null if there is none. `root`: the whole object; null: it is unknown, and paths from the root have no value.
const Value* at(const MemberPath& path, const Object& object, const Object* root) noexcept;
// Whether the members of the struct meet the conditions.
bool hold(const Conditions& conditions, const Object& object, const Object* root = nullptr) noexcept;

}  // namespace backplane::schema
