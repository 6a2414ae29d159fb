// Labels and selectable field values, in two forms: as owned strings, and as views of the buffer of an ObjectEntry.
//
// The buffer contains the texts one after the other. The length of a text precedes it in bytes of seven bits each, the lowest bits first;
// the high bit is set if another byte of the length follows.
//
// Thread-safety: views are immutable; any number of threads may read one buffer.
// Lifetime:      a view and the texts that it returns point into the buffer. For the buffer of an ObjectEntry, they are valid as long as
//                the entry.
// Errors:        at() throws std::out_of_range; copies throw std::bad_alloc.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Label keys and values, sorted by key, each key once.
using Labels = std::vector<std::pair<std::string, std::string>>;

// The number of bytes that `text` and its length occupy in a buffer.
std::size_t packed_size(std::string_view text) noexcept;
// Appends `text` to a buffer.
void append_packed(std::string& buffer, std::string_view text);
// Returns the text that begins at `at`, and moves `at` past the text. Precondition: append_packed() has written the text there.
inline std::string_view take_packed(const char*& at) noexcept {
  std::size_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    size |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  const std::string_view text(at, size);
  at += size;
  return text;
}

// A forward range of the items in the buffer [begin, end). Item is std::string_view for single texts, or a pair of them for pairs of texts.
template <class Item>
class PackedView {
 public:
  class const_iterator {
   public:
    using value_type = Item;
    using reference = Item;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // the reference is a value

    const_iterator() = default;
    explicit const_iterator(const char* at) noexcept : at_(at) {}
    Item operator*() const noexcept {
      const char* at = at_;
      return take(at);
    }
    const_iterator& operator++() noexcept {
      take(at_);
      return *this;
    }
    const_iterator operator++(int) noexcept {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    const char* at_ = nullptr;
  };
  using iterator = const_iterator;
  using value_type = Item;

  PackedView() = default;
  explicit PackedView(std::string_view buffer) noexcept : begin_(buffer.data()), end_(buffer.data() + buffer.size()) {}

  const_iterator begin() const noexcept { return const_iterator(begin_); }
  const_iterator end() const noexcept { return const_iterator(end_); }
  bool empty() const noexcept { return begin_ == end_; }
  // Linear: counts the items.
  std::size_t size() const noexcept { return static_cast<std::size_t>(std::distance(begin(), end())); }
  // Linear: skips the items before `index`. Precondition: index < size().
  Item operator[](std::size_t index) const noexcept { return *std::next(begin(), static_cast<std::ptrdiff_t>(index)); }
  // Like operator[], but throws std::out_of_range if index >= size().
  Item at(std::size_t index) const {
    for (const_iterator it = begin(); it != end(); ++it) {
      if (index-- == 0) return *it;
    }
    throw std::out_of_range("PackedView::at");
  }

 private:
  static Item take(const char*& at) noexcept {
    if constexpr (std::is_same_v<Item, std::string_view>) {
      return take_packed(at);
    } else {
      const std::string_view first = take_packed(at);
      return {first, take_packed(at)};
    }
  }
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
};

// The labels of an object, sorted by key.
//
//   for (const auto& [key, value] : entry.labels()) …
class LabelsView : public PackedView<std::pair<std::string_view, std::string_view>> {
 public:
  using PackedView::PackedView;
  // Returns the value of the label `key`, a view into the buffer; nullopt if the object has no such label. Linear in the number of labels.
  std::optional<std::string_view> find(std::string_view key) const noexcept;
  // Returns owned copies, which are valid without the buffer.
  Labels copy() const { return Labels(begin(), end()); }
};

// The values of the selectable fields of an object, in the order of the declaration.
class FieldsView : public PackedView<std::string_view> {
 public:
  using PackedView::PackedView;
  // Returns owned copies, which are valid without the buffer.
  std::vector<std::string> copy() const { return {begin(), end()}; }
};

}  // namespace BACKPLANE_API
