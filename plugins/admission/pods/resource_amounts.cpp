#include "pods/resource_amounts.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/resource_names.hpp"

namespace backplane::admission::pods {
namespace {

void raise_amounts(Amounts& to, const Amounts& other) {
  for (const auto& [name, quantity] : other) {
    const auto found = to.find(name);
    if (found == to.end() || compare_quantities(quantity, found->second) > 0) to[name] = quantity;
  }
}

bool is_sidecar(const Object& init_container) { return get_string(init_container, "restartPolicy") == "Always"; }

}  // namespace

Amounts amounts_in(const Object& parent, std::string_view list) {
  Amounts out;
  for (const auto& amount : object_or_empty(parent, list)) out.emplace(std::string(amount.key()), std::string(text_of(amount.value())));
  return out;
}

void add_amounts(Amounts& to, const Amounts& more) {
  for (const auto& [name, quantity] : more) {
    const auto [place, added] = to.try_emplace(name, quantity);
    if (!added) place->second = sum_of_quantities(place->second, quantity);
  }
}

Amounts sum_of_containers(const Object& pod_spec, std::string_view list) {
  Amounts total;
  each(pod_spec, "containers",
       [&](const Object& container, std::size_t) { add_amounts(total, amounts_in(object_or_empty(container, "resources"), list)); });
  Amounts sidecars, most_at_start;
  each(pod_spec, "initContainers", [&](const Object& container, std::size_t) {
    Amounts own = amounts_in(object_or_empty(container, "resources"), list);
    if (is_sidecar(container)) {
      add_amounts(total, own);
      add_amounts(sidecars, own);
      return raise_amounts(most_at_start, sidecars);
    }
    add_amounts(own, sidecars);
    raise_amounts(most_at_start, own);
  });
  raise_amounts(total, most_at_start);
  return total;
}

void take_pod_level(Amounts& amounts, const Object& pod_spec, std::string_view list, bool huge_pages) {
  for (auto& [name, quantity] : amounts_in(object_or_empty(pod_spec, "resources"), list)) {
    const bool counts = name == "cpu" || name == "memory" || (huge_pages && is_huge_page(name));
    if (counts) amounts[name] = quantity;
  }
}

bool same_amounts(const Object* a, const Object* b) {
  static const Object kNone;
  const Object &left = a != nullptr ? *a : kNone, &right = b != nullptr ? *b : kNone;
  if (left.size() != right.size()) return false;
  for (const auto& amount : left) {
    const Value* other = find(right, amount.key());
    if (other == nullptr || compare_quantities(text_of(amount.value()), text_of(*other)) != 0) return false;
  }
  return true;
}

}  // namespace backplane::admission::pods
