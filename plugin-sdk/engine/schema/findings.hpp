// The findings of validation, and the checks of single values.
//
// Thread-safety: values.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "schema/constraints.hpp"
#include "schema/place.hpp"
#include "schema/type.hpp"

namespace backplane::schema {

// Problems of one value and everything below it.  The number of matches selects among failing alternatives of anyOf and oneOf.
class Findings {
 public:
  bool valid() const noexcept { return found_.empty(); }
  std::size_t matches() const noexcept { return matches_; }
  void count(std::size_t more = 1) noexcept { matches_ += more; }
  void merge(Findings other);
  void report(FieldErrors& errors) const;
  // Drops all problems of a value that has not changed (ratcheting).
  void clear() { found_.clear(), identities_.clear(); }

  void required(const std::string& path);
  // The problem of a value whose type `have` is not the type `wanted`.
  void type_mismatch(const std::string& path, std::string_view wanted, std::string_view have);
  // `supported`: supported_values(), which may be many.
  void not_supported(const std::string& path, const Value& value, const std::string& supported);
  void invalid(const std::string& path, const Value& value, std::string message);
  void too_long(const std::string& path, std::int64_t most);
  void too_many(const std::string& path, std::size_t actual, std::int64_t most);
  // A problem that upstream reports without a path.
  void plain(std::string message);

 private:
  void add(FieldErrorType type, std::string path, std::string text, std::string identity);
  struct Found {
    FieldError error;
    std::string identity;  // upstream's error text: one problem is reported once
  };
  std::vector<Found> found_;
  std::unordered_set<std::string> identities_;
  std::size_t bytes_ = 0;  // the size of the found problems
  std::size_t matches_ = 0;
};

// The values of an enum as problems list them.
std::string supported_values(const std::vector<Value>& allowed);
bool is_whole(double number) noexcept;
void check_string(std::string_view text, const Constraints& rule, const Place& place, Findings& out);
// `type_words` is the schema's type; `rule` may be null.
void check_number(const Value& value, std::string_view type_words, const Constraints* rule, const Place& place, Findings& out);
// Whether a value equals one of an enum by kube-openapi's comparison: after Go's conversion to the type of `allowed`. So 1.0 equals 1, 1.5
// equals 1, 65 equals "A", and null equals no value.
bool is_allowed_value(const Value& value, const Value& allowed);
void check_list_size(const Array& array, const Constraints& rule, const Place& place, Findings& out);
void check_object_size(const Object& object, const Constraints& rule, const Place& place, Findings& out);

// Resources embedded in others (embedded.cpp).
void check_embedded(const Value& value, const Type& type, const Place& place, FieldErrors& errors);
// x-kubernetes-list-type "set" and "map": checks that no item is repeated (list_types.cpp).
void check_list_types(const Value& value, const Type& type, const Place& place, FieldErrors& errors);
// The key of an item of a list-type map: an object of its key fields, without absent fields.
Object list_key_of(const Value& item, const std::vector<std::string>& fields);
// Limit of the text of one value's problems; further ones are dropped.
inline constexpr std::size_t kMaxFoundBytes = 8 * 1024 * 1024;
std::size_t bytes_of(const FieldErrors& errors) noexcept;

}  // namespace backplane::schema
