// kubectl's JSONPath, limited to the syntax of printer columns: .a.b, ['a.b'], [0], [-1], [1:3], [*], .*, ..a and [?(@.type=="Ready")].
//
// Thread-safety: immutable after parse(); any number of threads.
// Errors:        parse() returns nullopt for unsupported syntax. A path that matches nothing is not an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A parsed path.
//   const auto path = JsonPath::parse(".status.conditions[?(@.type==\"Ready\")].status");
//   const Value* ready = path ? path->first(object) : nullptr;
class JsonPath {
 public:
  // Parses a path with or without the surrounding braces.
  static std::optional<JsonPath> parse(std::string_view text);

  // Returns the first match in document order; null if there is none. The pointer is valid as long as `root`.
  const Value* first(const Value& root) const;
  const Value* first(const Object& root) const;
  // Calls `visit` for each match, in document order, until `visit` returns true. Returns true if `visit` has returned true.
  using Visit = std::function<bool(const Value& found)>;
  bool each(const Object& root, const Visit& visit) const;
  // Returns the member names of a path that consists only of member names, such as .a.b; empty for every other path. A caller can read such
  // a path without a JsonPath.
  std::vector<std::string> members() const;

 private:
  enum class Kind : unsigned char { kMember, kIndex, kSlice, kWildcard, kRecursive, kFilter };
  struct Step {
    Kind kind = Kind::kMember;
    std::string name;                  // kMember: the member; kRecursive: the member to search for
    std::int64_t begin = 0;            // kIndex, kSlice
    std::optional<std::int64_t> end;   // kSlice
    std::vector<std::string> operand;  // kFilter: the path after @
    std::string op;                    // kFilter: == != < > <= >=; empty: the item matches if the path exists
    std::optional<Value> literal;      // kFilter
  };

  static bool parse_member(std::string_view& rest, std::vector<Step>& steps);
  static bool parse_bracket(std::string_view& rest, std::vector<Step>& steps);
  static bool parse_filter(std::string_view inside, Step& step);
  static bool holds(const Step& step, const Value& item);
  // These return true if `visit` has returned true.
  bool search(const std::string& name, const Value& value, std::size_t next, const Visit& visit) const;
  bool walk(const Value& value, std::size_t next, const Visit& visit) const;
  bool walk_array(const Step& step, const Array& array, std::size_t next, const Visit& visit) const;

  std::vector<Step> steps_;
};

}  // namespace BACKPLANE_API
