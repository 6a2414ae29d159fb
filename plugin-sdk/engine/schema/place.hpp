// The position of a traversal of a tree: linked frames on the stack, converted to text only for errors.  A body of a few megabytes can
// have a long key above very many values; a path text for each value would repeat the key.
//
// Lifetime: a place borrows the names and the places above it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace backplane::schema {

struct Place {
  enum class Step : unsigned char { kRoot, kMember, kKey, kIndex, kDotted };  // printed as: name, .name, [name], [index], .name

  const Place* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;
  Step step = Step::kRoot;

  Place member(std::string_view key) const noexcept { return {this, key, 0, Step::kMember}; }
  Place key(std::string_view key) const noexcept { return {this, key, 0, Step::kKey}; }
  Place dotted(std::string_view key) const noexcept { return {this, key, 0, Step::kDotted}; }
  Place item(std::size_t at) const noexcept { return {this, {}, at, Step::kIndex}; }
  static Place root(std::string_view path) noexcept { return {nullptr, path, 0, Step::kRoot}; }

  void append_to(std::string& out) const;
  std::string path() const;
};

}  // namespace backplane::schema
