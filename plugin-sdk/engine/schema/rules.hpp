// What x-backplane-rules say of one property, item or struct, beyond its type: the words that backplane/types/schema.hpp lists.
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

// Where a member stands: in a struct or deeper in it, or below the whole object.
struct MemberPath {
  std::vector<std::string> names;
  bool from_root = false;
};

// What a member must be for something to be asked of another.
struct Condition {
  MemberPath member;
  std::vector<Value> values;                 // true: any value at all, false: none
  bool (*is)(const Value* value) = nullptr;  // in place of values
  std::optional<MemberPath> as;              // in place of both: the same stands there
};

// Several such sets, of which one has to hold.
using Conditions = std::vector<std::vector<Condition>>;

// A struct that stays as it is, but for some of its members.
struct Fixed {
  struct Change {
    MemberPath member;
    Conditions when, when_was;  // of the struct as it is, and as it was
    bool shows_new = false;     // a difference elsewhere is shown beside the new value, not the old one
  };
  std::string text;
  std::string as;  // the definition whose members alone are compared; empty: the struct's own
  std::vector<Change> may;
};

enum class NumberFormat : unsigned char { kNone, kPort, kPortOrName, kIntOrPercent };

// Rules of a property's value, or of each item of a list or map.
struct Rules {
  Conditions when, unless, when_was, unless_was, unless_item;
  bool again = false;  // updates are asked twice
  bool required = false;
  std::string required_text;
  std::string forbidden, refused, missing, once, stays, rising, single, wrong;  // texts; empty: not asked
  bool goes_on = false;  // the other rules are asked of what is required and missing, too
  std::unique_ptr<Fixed> fixed;
  // Unset values are looked at, too; nothing: when output prints them ("x-backplane-omit": "never").
  std::optional<bool> optional;
  std::vector<std::string> allowed;
  std::vector<std::string> allowed_names;  // not empty: told of in place of those
  std::string allowed_text;                // not empty: said in place of the list
  bool or_qualified = false;               // or any name with a domain
  std::optional<std::int64_t> minimum, maximum;
  std::string range_text;
  Problems (*format)(std::string_view) = nullptr;
  bool domain_path = false;     // a text: a domain and a path behind it
  bool trims_dot = false;       // the root's dot at the end of a name is left out of it
  bool keeps = false;           // a value that the format refuses may follow another
  bool lowered = false;         // a text is looked at, and quoted, in lower case
  bool joined = false;          // what the format finds is said as one
  std::string non_empty;        // not empty: this is said of an empty text
  bool label_selector = false;  // structs
  std::string selector_text;    // not empty: said besides of one that is wrong
  std::optional<std::int64_t> max_percent;
  std::optional<std::int64_t> max_items;  // of a list; nothing is looked at in a longer one
  std::string max_items_text;             // not empty: said of the list in place of "Too many"
  NumberFormat number = NumberFormat::kNone;
  bool labels = false;                      // a map
  bool conditions = false;                  // a list of metav1.Condition
  std::optional<std::int64_t> max_entries;  // of a map
  std::optional<std::int64_t> max_bytes;    // of a map's keys and values together
  bool not_negative = false;                // quantities
  bool positive = false;                    // quantities
  bool counted = false;                     // of a map of quantities: whole ones, where what its key names can only be counted
  std::optional<std::int64_t> max_length;
  std::string length_text;           // not empty: said in place of how long it may be
  std::vector<std::string> entries;  // the keys of a map, all of them and no others
  bool json_object = false;          // raw values
  std::string json_object_text;      // not empty: one that is no object is missing, and this is said of it
  bool immutable = false;
  std::string immutable_text;
  bool as_set = false;              // of a list that may not change: in which order, and how often, does not matter
  bool unquoted = false;            // what it has become is not told
  bool as_go = false;               // a struct that has changed is quoted as Go prints it
  bool when_changed = false;        // what an update leaves as it was is not looked at
  bool on_create = false;           // what is in it can never change, and is looked at once
  bool opaque = false;              // nothing in it is looked at
  std::vector<std::string> unique;  // members that no two items share
  bool unique_items = false;        // no two items are the same
  std::string unique_text;
  bool empty_too = false;  // nor may two of these members be empty
  std::string unique_at;   // the member that is blamed; items where it is unset are passed over
  std::string per_family;  // not empty: addresses or ranges, one of each family at most; this is said of others
  std::string named;       // member that each of several items has
  std::string alone;       // not empty: `alone_item` has no other items beside it; this is said of the list
  std::string alone_item = "*";
  bool alone_forbidden = false;  // and it is said as of something forbidden
  bool whole_list = false;       // what is wrong with an item is said of the list
  bool as_members = false;       // of a map: what is wrong with an entry is said of it as of a member
  bool instead = false;          // what was said of the value before is left out
  bool holder = false;           // what is wrong with the value is said of what holds it
  bool whole = false;            // and what holds it is quoted
  std::string path;              // what is blamed; with a dot at its front: inside what holds the value
  // "members": {name: rules}: rules for members of this struct in this place; others may hold the same struct to other rules.
  std::vector<std::pair<std::string, std::unique_ptr<Rules>>> members;
  std::unique_ptr<Rules> keys;   // of a map's keys
  std::unique_ptr<Rules> items;  // of a list's items in this place
  std::unique_ptr<Rules> next;   // asked after these
};

// Rules on the members of a struct together.
struct StructRules {
  // One of several: at most one, or exactly one.
  bool is_union = false;
  std::vector<std::string> union_except;                      // struct members that are none of the alternatives
  std::vector<std::string> union_order;                       // alternatives that are looked for first, in this order
  std::vector<std::pair<std::string, std::string>> union_as;  // alternatives that are blamed by another name; empty: that may stand beside
  std::string none_text, many_text;                           // none_text empty: there may be none
  // Of a union whose alternative is named by a member: values and alternatives.
  std::string union_by;
  std::vector<std::pair<std::string, std::string>> union_of;
  // When `frozen_by` is true in the old object it stays so, and the members keep their values.
  std::string frozen_by;
  std::vector<std::string> frozen;
  // Members other than these stay as they are; the text empty: nothing is asked.
  std::vector<std::string> thawed;
  std::string frozen_text;
  // Bytes of the values of the maps together.
  std::vector<std::string> counted;
  std::int64_t max_bytes = 0;
  std::string counted_path;
  // Numbers beside another.
  struct Limit {
    enum class Side : unsigned char { kNotAbove, kNotBelow, kAbove };
    Side side = Side::kNotAbove;
    std::vector<std::string> members;
    std::string limit, text;
    bool quotes_limit = false;  // and not the number that is wrong
  };
  std::vector<Limit> limits;
  // What is said of the struct itself.
  struct Blame {
    enum class Kind : unsigned char { kRequired, kInvalid, kForbidden };
    Conditions when, unless;
    Kind kind = Kind::kInvalid;
    std::string text;
    std::string quotes;          // kInvalid: the member that is quoted; empty: `shows`
    std::string shows = "\"\"";  // quoted in place of it, as JSON
    bool whole = false;          // kInvalid: the struct is quoted, as Go prints it
  };
  std::vector<Blame> blames;
  // Members, dotted where they stand deeper, of which one is set.
  std::vector<std::string> any_of;
  std::string any_text;
  Conditions any_when;
  // Quantities of a map that are not above those of another.
  struct Order {
    std::string low, high, text;
    bool blames_high = false, shows_high = false;
  };
  std::vector<Order> orders;
  // Keys of the first map that are none of the second's.
  std::string distinct, distinct_from;
  // Keys that a map must have.
  struct Keys {
    Conditions when;
    std::string map;  // dotted, where it stands deeper
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

// What becomes of a member beside its default.
struct Derived {
  Conditions dropped;                                    // it is removed where this holds
  std::string list;                                      // this list's first item is the same field under another name
  std::string into;                                      // its entries are written to this map, and it is removed
  std::vector<std::string> from;                         // maps whose entries it gets where it has none of that key
  Conditions when;                                       // of `from`; empty: always
  std::vector<std::pair<std::string, Value>> items_say;  // members that each item of the list has, whatever was sent
  bool thousandths = false;                              // quantities in it are rounded up to whole thousandths
};

// x-backplane-gate: what a feature gate makes of a member.
struct Gated {
  std::vector<std::string> gates;        // all of them have to be on
  bool together = false;                 // all members of these gates that say so are one feature: whoever uses one may use all
  bool holder = false;                   // a struct that has nothing else goes with it
  std::string having;                    // it is a struct, and goes only where this member of it is set
  std::vector<std::string> also;         // members beside it that are a use of it, too
  std::vector<Value> except;             // values that need no gate
  const Value* default_value = nullptr;  // while the gates are on; null: none
};

// What stands there; `root`: the whole object, null where nobody knows it, and then nothing stands below it.
const Value* at(const MemberPath& path, const Object& object, const Object* root) noexcept;
// Whether the members of the struct have such values.
bool hold(const Conditions& conditions, const Object& object, const Object* root = nullptr) noexcept;

}  // namespace backplane::schema
