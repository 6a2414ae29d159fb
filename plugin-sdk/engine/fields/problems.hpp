// Problems of an object, with upstream's messages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/field_set.hpp"
#include "fields/code.hpp"

namespace backplane::fields {

class Problems {
 public:
  // Further problems are not reported, so that a response stays bounded.
  static constexpr std::size_t kMost = 1000;

  bool empty() const noexcept { return list_.empty(); }
  std::size_t size() const noexcept { return list_.size(); }
  void add(std::string text, std::string path = {}) {
    if (list_.size() < kMost) list_.push_back({std::move(path), std::move(text)});
  }
  // Prefixes the paths of the problems from index `from` on with the element.
  void below(std::size_t from, const PathElement& element) {
    if (from == list_.size()) return;
    std::string prefix;
    append_exact_text(prefix, element);
    below(from, prefix);
  }
  void below_field(std::size_t from, std::string_view name) {
    if (from != list_.size()) below(from, "." + std::string(name));
  }
  // Success without problems.
  Status status() const;

 private:
  struct Problem {
    std::string path;
    std::string text;
  };
  void below(std::size_t from, const std::string& prefix) {
    for (std::size_t i = from; i < list_.size(); ++i) list_[i].path.insert(0, prefix);
  }
  std::vector<Problem> list_;
};

}  // namespace backplane::fields
