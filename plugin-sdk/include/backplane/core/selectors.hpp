// Label and field selectors.
//
// Thread-safety: immutable after parse(); any number of threads.
// Errors:        kBadRequest with the text of apimachinery's parsers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/labels.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// labels.Selector: requirements on an object's labels that must all hold.
class LabelSelector {
 public:
  // The operators, in the order of the enumerators: = (or ==), !=, in, notin, key, !key, key>value, key<value. != and notin also match
  // objects that do not have the label.
  enum class Op : unsigned char { kEquals, kNotEquals, kIn, kNotIn, kExists, kNotExists, kGreater, kLess };
  // One comparison of one label.
  struct Requirement {
    std::string key;
    Op op;
    std::vector<std::string> values;  // sorted; one value for =, !=, > and <; none for kExists and kNotExists
  };
  // Parses the query parameter labelSelector.
  //
  //   auto selector = LabelSelector::parse("app in (web, api), !canary");
  //   if (selector.ok() && selector->matches(object->labels())) …
  static Result<LabelSelector> parse(std::string_view text);
  // True if there are no requirements: every object matches.
  bool empty() const noexcept { return requirements_.empty(); }
  // True if every requirement holds. `labels`: sorted by key; nothing is copied.
  bool matches(LabelsView labels) const noexcept;
  bool matches(const Labels& labels) const noexcept;
  const std::vector<Requirement>& requirements() const noexcept { return requirements_; }
  // Returns the canonical text, with the requirements sorted by key (labels.Selector.String).
  std::string to_string() const;

 private:
  std::vector<Requirement> requirements_;
};

// fields.Selector: comparisons of field labels ("spec.nodeName=a,status.phase!=Running") that must all hold.
class FieldSelector {
 public:
  // One comparison of one field label.
  struct Requirement {
    std::string field;
    bool equals;  // false: !=
    std::string value;
  };
  // Parses "name=value", "name==value" and "name!=value", separated by commas. In values, a backslash escapes commas, equals signs and
  // backslashes.
  static Result<FieldSelector> parse(std::string_view text);
  // True if there are no requirements: every object matches.
  bool empty() const noexcept { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const noexcept { return requirements_; }
  // True if every requirement holds. `get` returns the value of a field label, or an empty text if the field is absent.
  bool matches(const std::function<std::string_view(std::string_view field)>& get) const;
  // Returns the same requirements with the field names that `name_of` returns. Errors: the first error that `name_of` returns.
  Result<FieldSelector> renamed(const std::function<Result<std::string>(std::string_view field)>& name_of) const;
  // Returns the canonical text (fields.Selector.String).
  std::string to_string() const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace BACKPLANE_API
