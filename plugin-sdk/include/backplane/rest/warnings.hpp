// Warnings of a kind as data: rows that are evaluated in order after a successful write. Each row adds texts for Warning headers.
//
// Thread-safety: immutable once constructed.
// Errors:        the constructor of FieldPlaces throws std::invalid_argument for a malformed path.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A pattern of field paths: "spec.externalIPs[*]" matches every item; "metadata.annotations[key]" matches one key;
// "subsets[*].addresses|notReadyAddresses[*].ip" matches both members, in each subset first `addresses`.
class FieldPlaces {
 public:
  explicit FieldPlaces(std::string_view text);

  // Calls `visit` with each value that matches, and with its path. Null and empty lists do not match.
  using Visit = std::function<void(const Value& found, const std::string& path)>;
  void each(const Object& object, const Visit& visit) const;
  // True if a matching value equals one of `values`. Two elements of `values` have a special meaning. true: a matching value is neither
  // zero nor empty. false: no matching value is so.
  bool any(const Object& object, const std::vector<Value>& values) const;

 private:
  enum class Kind : unsigned char { kMember, kKey, kItems };
  struct Step {
    Kind kind;
    std::vector<std::string> names = {};
  };
  void add_members(std::string_view names);
  void walk(const Value& value, std::size_t next, const std::string& path, const Visit& visit) const;
  void walk_from(const Object& object, std::size_t next, const std::string& path, const Visit& visit) const;

  std::vector<Step> steps_;
};

// Appends the warnings about `value`, which is at `path`.
using WarnOf = void (*)(const Value& value, const std::string& path, std::vector<std::string>& warnings);

// One row: the fields, the warning, and the conditions.
//
//   {.places = FieldPlaces("spec.externalIPs[*]"), .check = warn_of_ip}
//   {.places = FieldPlaces("spec.serviceAccount"), .text = "deprecated since v1.0; use spec.serviceAccountName instead"}
struct WarningRow {
  struct Condition {
    FieldPlaces places;
    std::vector<Value> values;
  };
  using Conditions = std::vector<Condition>;  // holds if all its elements hold

  FieldPlaces places;
  std::string text = {};     // adds "path: text" for each matching value
  std::string warning = {};  // adds this text, without the path, for each matching value
  WarnOf check = nullptr;
  std::vector<Conditions> when = {};    // at least one must hold; empty: no condition
  std::vector<Conditions> unless = {};  // none may hold
  bool on_create = false;               // the row applies only on create
  bool when_new = false;                // on update, the row applies only if the old object has no matching value
};

// Returns the warnings of one write; `old` is null on create.
std::vector<std::string> warnings_of(const std::vector<WarningRow>& rows, const Object& object, const Object* old);

}  // namespace BACKPLANE_API
