// A summary of a run of entries in a few bytes: a Bloom filter over the names, labels, label keys and field values of the entries. An
// iteration that searches for one of them skips runs that cannot contain it, without reading their entries.
//
// Thread-safety: pure functions; a Summary is a value.
// Errors:        none.  It may have false positives, never false negatives.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"

namespace backplane {

// A property of an entry (name, label, field value); equal for equal properties.
using Term = std::uint64_t;
Term name_term(std::string_view name) noexcept;
Term namespace_term(std::string_view ns) noexcept;
Term label_key_term(std::string_view key) noexcept;
Term label_term(std::string_view key, std::string_view value) noexcept;
// `column` counts the declared fields of the resource.
Term field_term(std::size_t column, std::string_view value) noexcept;

// An entry must have at least one term of each group.
using Wanted = std::vector<std::vector<Term>>;

class Summary {
 public:
  void clear() noexcept { bits_.fill(0); }
  void add(const ObjectEntry& entry) noexcept;
  void add(const Summary& other) noexcept;
  bool may_hold(Term term) const noexcept;
  bool may_hold(const Wanted& wanted) const noexcept;

 private:
  void add(Term term) noexcept;
  // 32 entries with a dozen terms each, many of which are equal, set about a tenth of the bits.
  static constexpr std::size_t kWords = 32;
  // Both bits of a term lie in one cache line.
  static constexpr std::size_t kLineWords = 8;
  std::array<std::uint64_t, kWords> bits_{};
};

}  // namespace backplane
