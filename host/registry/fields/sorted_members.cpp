#include "registry/fields/sorted_members.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace backplane::registry {
namespace {

bool in_order(const Object& object) {
  return std::is_sorted(object.begin(), object.end(), [](const auto& a, const auto& b) { return a.key() < b.key(); });
}

void sort_object(Object& object) {
  std::vector<std::string> keys;
  keys.reserve(object.size());
  for (const auto& member : object) keys.emplace_back(member.key());
  std::sort(keys.begin(), keys.end());
  Object sorted(object.storage());
  sorted.reserve(keys.size());
  for (const std::string& key : keys) sorted.emplace(key, std::move(object[key]));
  object = std::move(sorted);
}

}  // namespace

void sort_members(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) sort_members(item);
  } else if (value.is_object()) {
    for (auto& member : value.get_object()) sort_members(member.value());
    if (!in_order(value.get_object())) sort_object(value.get_object());
  }
}

}  // namespace backplane::registry
