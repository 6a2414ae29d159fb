// Label and field selectors.
//
// Thread-safety: immutable after parse.
// Errors:        kBadRequest worded as apimachinery's parsers word them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Sorted by key.
using Labels = std::vector<std::pair<std::string, std::string>>;

class LabelSelector {
 public:
  enum class Op : unsigned char { kEquals, kNotEquals, kIn, kNotIn, kExists, kNotExists, kGreater, kLess };
  struct Requirement {
    std::string key;
    Op op;
    std::vector<std::string> values;  // sorted
  };
  static Result<LabelSelector> parse(std::string_view text);
  bool empty() const noexcept { return requirements_.empty(); }
  bool matches(const Labels& labels) const noexcept;
  const std::vector<Requirement>& requirements() const noexcept { return requirements_; }
  std::string to_string() const;

 private:
  std::vector<Requirement> requirements_;
};

class FieldSelector {
 public:
  struct Requirement {
    std::string field;
    bool equals;  // false: !=
    std::string value;
  };
  static Result<FieldSelector> parse(std::string_view text);
  bool empty() const noexcept { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const noexcept { return requirements_; }
  // `get` returns the value of a field label.
  bool matches(const std::function<std::string_view(std::string_view field)>& get) const;
  // The same requirements on fields of other names.  Errors: the first that `name_of` gives.
  Result<FieldSelector> renamed(const std::function<Result<std::string>(std::string_view field)>& name_of) const;
  std::string to_string() const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace BACKPLANE_API
