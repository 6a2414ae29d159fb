// kubectl's JSONPath, as printer columns of custom resources use it: .a.b, ['a'], [0], [-1], [1:3:2], [0,2], [*], .*, ..a and
// [?(@.type=="Ready")].
//
// Thread-safety: immutable after parse.
// Errors:        parse() returns nullopt for an invalid path. first() returns null if a path cannot be applied to an object (an index
//                beyond the list, a comparison of a text with a number, a word without a meaning).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::apiextensions {

struct PathStep;
// Each step is applied to all values that the previous step has found.
using PathSteps = std::vector<PathStep>;

struct PathStep {
  enum class Kind : unsigned char {
    kField,      // name
    kWildcard,   // all members, all items
    kRecursive,  // all containers, at any depth
    kSlice,      // bounds
    kUnion,      // parts
    kFilter,     // parts: left and right of the operator
    kLiteral,    // literal, for each found value
    kText,       // literal, once
    kWord        // a word without a meaning at its position; applying it fails
  };
  // One of begin, end and stride of a slice.
  struct Bound {
    std::optional<std::int64_t> value = {};
    bool derived = false;  // the end of "[5]" is derived from its begin
  };

  Kind kind = Kind::kField;
  std::string name = {};  // kField; kFilter: the operator, empty to test for existence
  std::array<Bound, 3> bounds = {};
  std::vector<PathSteps> parts = {};
  Value literal = {};
};

class ColumnPath {
 public:
  static std::optional<ColumnPath> parse(std::string_view text);

  // The first match in document order; null: there is none. Lives as long as both the path and the root.
  const Value* first(const Object& root) const;

 private:
  explicit ColumnPath(PathSteps steps) : steps_(std::move(steps)) {}

  PathSteps steps_;
};

// The steps of a text; nullopt if it is not a path.
std::optional<PathSteps> parse_path_steps(std::string_view text);

}  // namespace backplane::apiextensions
