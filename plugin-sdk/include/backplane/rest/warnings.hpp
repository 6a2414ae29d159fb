// What clients are warned of beside a successful write, as data: rows that are asked in order, of every kind that has any.
//
// Thread-safety: immutable once made.
// Errors:        a path that cannot be read throws std::invalid_argument.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Places in an object, written as field paths are: "spec.externalIPs[*]" (every item), "metadata.annotations[key]",
// "subsets[*].addresses|notReadyAddresses[*].ip" (of each subset first the one, then the other).
class FieldPlaces {
 public:
  explicit FieldPlaces(std::string_view text);

  // Calls `visit` for what stands there, with its own path; null and empty lists do not count.
  using Visit = std::function<void(const Value& found, const std::string& path)>;
  void each(const Object& object, const Visit& visit) const;
  // Whether one of `values` stands in one of the places: true is any value but zeros and empty ones, false is none of these.
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

// Looks at a value and adds what is to be said of it.
using WarnOf = void (*)(const Value& value, const std::string& path, std::vector<std::string>& warnings);

struct WarningRow {
  struct Condition {
    FieldPlaces places;
    std::vector<Value> values;
  };
  using Conditions = std::vector<Condition>;  // all of them hold

  FieldPlaces places;
  std::string text = {};  // "path: text" is said of each value there
  std::string said = {};  // or this, whatever the path
  WarnOf check = nullptr;
  std::vector<Conditions> when = {};    // one of these holds; none: always
  std::vector<Conditions> unless = {};  // and none of these
  bool on_create = false;               // updates say nothing
  bool when_new = false;                // nor do they where the old object has something there, too
};

// `old` is null on create.
std::vector<std::string> warnings_of(const std::vector<WarningRow>& rows, const Object& object, const Object* old);

}  // namespace BACKPLANE_API
