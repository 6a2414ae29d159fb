// The path elements of the items of set and map lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fields/form.hpp"
#include "fields/problems.hpp"

namespace backplane::fields {

// The element of an item of a list that is not atomic. nullopt and the reason if the item has none.
std::optional<PathElement> element_of(const ListForm& list, const Value& item, std::string* why);

// The items of a list by their element.
class ItemIndex {
 public:
  struct Item {
    PathElement element;
    const Value* value;
  };

  // Every item with an element, in the order of the list; items without one are added to `problems` (null: skipped).
  ItemIndex(const ListForm& form, const Array* list, Problems* problems);

  const std::vector<Item>& items() const noexcept { return items_; }
  // The number of items with the element, and the first of them; 0 and null if there is none.
  struct Found {
    std::size_t count = 0;
    const Value* first = nullptr;
  };
  Found find(const PathElement& element) const;
  // All items of the element, in the order of the list.
  std::vector<const Value*> all(const PathElement& element) const;

 private:
  bool few() const noexcept { return items_.size() <= kFew; }
  static constexpr std::size_t kFew = 8;

  std::vector<Item> items_;
  std::unordered_map<std::string_view, Found> places_;  // by code; only for a long list
};

}  // namespace backplane::fields
