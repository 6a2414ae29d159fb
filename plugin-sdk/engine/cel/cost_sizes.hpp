// Paths and size bounds of values in a cost estimate.
//
// Thread-safety: an instance belongs to one estimate and one thread.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cel/call_costs.hpp"

namespace backplane::cel_detail {

// The path of a value below a variable: its name, then names of fields, "@items", "@keys", "@values".
//
// Upstream holds these paths in Go slices that share their arrays: if the array of o has spare capacity, appending k overwrites the l of
// o.l, and then o.l has the size of o.k. These sizes decide which rules are accepted, so this file reproduces the overwriting.
class PathSteps {
 public:
  PathSteps() = default;
  explicit PathSteps(std::string_view variable) : steps_(std::make_shared<std::vector<std::string_view>>(1, variable)), size_(1) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view operator[](std::size_t i) const { return (*steps_)[i]; }

  // Like Go's append.
  PathSteps then(std::string_view step) const {
    PathSteps out = *this;
    const std::size_t room = steps_ == nullptr ? 0 : steps_->size();
    if (size_ == room) {
      out.steps_ = std::make_shared<std::vector<std::string_view>>(std::max<std::size_t>(1, 2 * room));
      for (std::size_t i = 0; i < size_; ++i) (*out.steps_)[i] = (*steps_)[i];
    }
    (*out.steps_)[out.size_++] = step;
    return out;
  }

 private:
  std::shared_ptr<std::vector<std::string_view>> steps_;
  std::size_t size_ = 0;
};

// Sizes of the elements of a list or map that the expression makes.
struct EntrySizes {
  bool list = false;
  Range key, value;
};
using MaybeEntrySizes = std::optional<EntrySizes>;

inline MaybeEntrySizes both(const MaybeEntrySizes& a, const MaybeEntrySizes& b) {
  if (!a || !b) return std::nullopt;
  return EntrySizes{a->list, a->key.with(b->key), a->value.with(b->value)};
}

struct LocalSizes {
  PathSteps path;
  MaybeRange size;
  MaybeEntrySizes entries;
};

}  // namespace backplane::cel_detail
