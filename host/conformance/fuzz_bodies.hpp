// Request bodies that no client would send: valid objects with odd values, and bytes that are not an object.
//
// Thread-safety: one thread.
// Errors:        none.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::conformance {

// A generator of bodies. The same seed gives the same bodies.
class BodyMutator {
 public:
  explicit BodyMutator(std::uint32_t seed) : random_(seed) {}

  // Returns a random number that is at least 0 and smaller than `bound`.
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  // Returns the sample with some members removed, repeated under another name or replaced by odd values. In most bodies apiVersion, kind
  // and metadata are unchanged, so that the server applies the type's own rules.
  Value odd_tree(const Object& sample);
  // Returns the bytes with some of them changed, removed, repeated or inserted.
  std::string odd_bytes(std::string bytes);

 private:
  Value odd_value();
  void change(Value& value, std::size_t depth);
  void change_object(Object& object, std::size_t depth);

  std::mt19937 random_;
};

}  // namespace backplane::conformance
