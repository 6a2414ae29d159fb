// kubectl's JSONPath as far as printer columns use it: .a.b, ['a.b'], [0], [-1], [1:3], [*], .*, ..a and [?(@.type=="Ready")].
//
// Thread-safety: immutable after parse.
// Errors:        parse() gives nothing for what it does not know; a path that leads nowhere finds nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class JsonPath {
 public:
  static std::optional<JsonPath> parse(std::string_view text);

  // The first match in document order; null when there is none.
  const Value* first(const Value& root) const;
  const Value* first(const Object& root) const;
  // Member names alone, in order: such a path can be walked by name.  Empty for others.
  std::vector<std::string> members() const;

 private:
  enum class Kind : unsigned char { kMember, kIndex, kSlice, kWildcard, kRecursive, kFilter };
  struct Step {
    Kind kind = Kind::kMember;
    std::string name;                  // kMember; kRecursive: the member looked for
    std::int64_t begin = 0;            // kIndex, kSlice
    std::optional<std::int64_t> end;   // kSlice
    std::vector<std::string> operand;  // kFilter: path below @
    std::string op;                    // kFilter: == != < > <= >= or empty (the path exists)
    std::optional<Value> literal;      // kFilter
  };

  static bool parse_member(std::string_view& rest, std::vector<Step>& steps);
  static bool parse_bracket(std::string_view& rest, std::vector<Step>& steps);
  static bool parse_filter(std::string_view inside, Step& step);
  static bool holds(const Step& step, const Value& item);
  static const Value* search(const std::string& name, const Value& value, const std::vector<Step>& steps, std::size_t next);
  static const Value* walk(const Value& value, const std::vector<Step>& steps, std::size_t next);
  static const Value* walk_array(const Step& step, const Array& array, const std::vector<Step>& steps, std::size_t next);

  std::vector<Step> steps_;
};

}  // namespace BACKPLANE_API
