// Warnings of a kind as data: rows that are evaluated in order after a successful write, each giving texts for Warning headers.
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

// A pattern of field paths: "spec.externalIPs[*]" (every item), "metadata.annotations[key]",
// "subsets[*].addresses|notReadyAddresses[*].ip" (in each subset first the one member, then the other).
class FieldPlaces {
 public:
  explicit FieldPlaces(std::string_view text);

  // Calls `visit` with each value that matches, and its path. Null and empty lists are skipped.
  using Visit = std::function<void(const Value& found, const std::string& path)>;
  void each(const Object& object, const Visit& visit) const;
  // True if any matching value equals one of `values`. In `values`, true matches every value that is not zero or empty; false matches if
  // there is no such value.
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

// Appends the warnings about one value, which is at `path`.
using WarnOf = void (*)(const Value& value, const std::string& path, std::vector<std::string>& warnings);

// One row: the fields, the warning text, and the conditions.
//
//   {.places = FieldPlaces("spec.externalIPs[*]"), .check = warn_of_ip}
//   {.places = FieldPlaces("spec.serviceAccount"), .text = "deprecated since v1.0; use spec.serviceAccountName instead"}
struct WarningRow {
  struct Condition {
    FieldPlaces places;
    std::vector<Value> values;
  };
  using Conditions = std::vector<Condition>;  // all must hold

  FieldPlaces places;
  std::string text = {};     // gives "path: text" for each matching value
  std::string warning = {};  // or this text is the whole warning, without the path
  WarnOf check = nullptr;
  std::vector<Conditions> when = {};    // at least one of these must hold; empty: always
  std::vector<Conditions> unless = {};  // none of these may hold
  bool on_create = false;               // only on create
  bool when_new = false;                // on update only if the old object has no matching value
};

// The warnings of one write; `old` is null on create.
std::vector<std::string> warnings_of(const std::vector<WarningRow>& rows, const Object& object, const Object* old);

}  // namespace BACKPLANE_API
