// The state of one decoding: its path, the first error and the reported problems.
//
// Go's decoder saves the first type error and continues; an error of a type's custom decoder (a time, a quantity) ends the decoding at once
// and takes precedence.  The messages of both kinds of errors name the struct and the path of fields, without list indexes and map keys.
//
// Thread-safety: one decoding, one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/types/schema.hpp"
#include "schema/type.hpp"

namespace backplane::schema {

// One step down from the parent value, on the C++ stack of the decoder.
struct Frame {
  enum class Step : unsigned char { kRoot, kField, kKey, kIndex };
  const Frame* parent = nullptr;
  Step step = Step::kRoot;
  const Type* holder = nullptr;  // the struct of a field
  std::string_view name;         // the name of the field, or the map key
  std::string_view embedded;     // Go structs embedded on the way to the field
  std::size_t index = 0;
};

struct DecodeError {
  bool of_type = false;  // `what` cannot be put into `go_type`
  std::string what;      // "number 1.5", or the whole message
  std::string go_type;
  std::string struct_name, field_path;

  std::string message() const;
  // Adds the place to a type error as Go does: its struct, and the path to the error.
  void put_at(const Frame& frame);
};

class Decode {
 public:
  explicit Decode(DecodeReport* report);

  // Saves the first type error: `value` cannot be a `type`.  False when decoding must end.
  bool type_error(const Value& value, bool with_number, const Type& type, const Frame& frame);
  bool type_error(const Value& value, bool with_number, std::string go_type, const Frame& frame);
  // Saves the first error that is not a type error and that Go saves, too. False when decoding must end.
  bool keep(std::string message);
  // Saves an error that ends the decoding.  Always false, for `return decode.fatal(…)`.
  bool fatal(std::string message);
  bool fatal_type_error(const Value& value, bool with_number, std::string go_type, const Frame& frame);
  bool fatal(DecodeError error, const Frame& frame);

  void unknown_field(const Frame& frame, std::string_view name);
  // Called before a known member is decoded.
  void known_field(const Frame& frame, std::string_view name) {
    if (!pending_.empty()) repeated_field(frame, name);
  }

  // The error of the decoding, if any; reports are final after it.
  std::optional<DecodeError> finish();

  // The value is restored from a map, not from JSON: see DecodeReport::restore.
  bool restores() const noexcept { return report_ && report_->restore; }

 private:
  void repeated_field(const Frame& frame, std::string_view name);
  void add_problem(std::string_view what, const Frame& frame, std::string_view name);

  DecodeReport* report_;
  std::vector<DuplicateField> pending_;  // duplicates that the parser has found
  std::optional<DecodeError> fatal_, first_;
};

// "spec.containers[0]".
std::string strict_path(const Frame& frame);
// Go's names for a JSON value: "string", "number", "number 1.5", "bool", "array", "object".
std::string value_words(const Value& value, bool with_number);

}  // namespace backplane::schema
