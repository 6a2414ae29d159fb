#include "common/resource_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "backplane/core/json_access.hpp"
#include "backplane/core/text.hpp"
#include "backplane/types/names.hpp"

namespace backplane::admission {
namespace {

std::string negated(const std::string& quantity) {
  if (quantity.starts_with('-')) return quantity.substr(1);
  return "-" + (quantity.starts_with('+') ? quantity.substr(1) : quantity);
}

int sign_of_quantity(const std::string& quantity) { return compare_quantities(quantity, "0"); }

// The number of units of the suffix in one whole unit; 0: the unit of the suffix is not smaller than a whole unit.
std::int64_t parts_of_unit(char suffix) {
  switch (suffix) {
    case 'm':
      return 1'000;
    case 'u':
      return 1'000'000;
    case 'n':
      return 1'000'000'000;
    default:
      return 0;
  }
}

}  // namespace

ResourceList read_resources(const Object& parent, std::string_view key) {
  ResourceList out;
  for (const auto& [name, value] : object_or_empty(parent, key)) {
    out.insert_or_assign(std::string(name), value.is_string() ? std::string(text_of(value)) : to_json(value));
  }
  return out;
}

void add_to(ResourceList& list, const ResourceList& more) {
  for (const auto& [name, amount] : more) {
    const auto [place, is_new] = list.try_emplace(name, amount);
    if (!is_new) place->second = sum_of_quantities(place->second, amount);
  }
}

ResourceList add(ResourceList a, const ResourceList& b) {
  add_to(a, b);
  return a;
}

ResourceList subtract_down_to_zero(const ResourceList& a, const ResourceList& b) {
  ResourceList out;
  for (const auto& [name, amount] : a) {
    const auto other = b.find(name);
    std::string rest = other == b.end() ? amount : sum_of_quantities(amount, negated(other->second));
    out.emplace(name, sign_of_quantity(rest) > 0 ? std::move(rest) : "0");
  }
  for (const auto& [name, _] : b) out.try_emplace(name, "0");
  return out;
}

void raise_to(ResourceList& list, const ResourceList& other) {
  for (const auto& [name, amount] : other) {
    const auto [place, is_new] = list.try_emplace(name, amount);
    if (!is_new && compare_quantities(amount, place->second) > 0) place->second = amount;
  }
}

ResourceList mask(const ResourceList& list, const ResourceNames& names) {
  ResourceList out;
  for (const auto& [name, amount] : list) {
    if (contains(names, name)) out.emplace(name, amount);
  }
  return out;
}

void remove_zeros(ResourceList& list) {
  std::erase_if(list, [](const auto& each) { return sign_of_quantity(each.second) == 0; });
}

ResourceNames names_of(const ResourceList& list) {
  ResourceNames out;
  out.reserve(list.size());
  for (const auto& [name, _] : list) out.push_back(name);
  return out;
}

ResourceNames negative_names(const ResourceList& list) {
  ResourceNames out;
  for (const auto& [name, amount] : list) {
    if (sign_of_quantity(amount) < 0) out.push_back(name);
  }
  return out;
}

ResourceNames exceeded_names(const ResourceList& list, const ResourceList& limits) {
  ResourceNames out;
  for (const auto& [name, limit] : limits) {
    const auto amount = list.find(name);
    if (amount != list.end() && compare_quantities(amount->second, limit) > 0) out.push_back(name);
  }
  return out;
}

bool same_amounts(const ResourceList& a, const ResourceList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first == other.first && compare_quantities(one.second, other.second) == 0;
  });
}

bool contains(const ResourceNames& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::string rounded_up(const std::string& quantity) {
  const std::string plain = sum_of_quantities(quantity, "0");  // without a decimal point
  const std::int64_t parts = parts_of_unit(plain.back());
  std::int64_t number = 0;
  const char* const end = plain.data() + plain.size() - 1;
  if (parts == 0 || std::from_chars(plain.data(), end, number).ptr != end) return quantity;
  const std::int64_t whole = number / parts;
  const std::int64_t rest = number % parts;
  return std::to_string(whole + (rest > 0 ? 1 : 0) - (rest < 0 ? 1 : 0));
}

std::string print(const ResourceList& list) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : list) parts.push_back(name + "=" + amount);
  return joined(parts);
}

std::string print(ResourceNames names) {
  std::sort(names.begin(), names.end());
  return joined(names);
}

}  // namespace backplane::admission
