#include "registry/sent_values.hpp"

#include <vector>

namespace backplane::registry {
namespace {

bool is_empty(const Value& value) noexcept {
  return (value.is_array() && value.get_array().empty()) || (value.is_object() && value.get_object().empty());
}

// Two values at the same path. Pairs are kept in a list instead of on the stack, because the sent object may be deeply nested.
struct Pair {
  const Value* sent;
  Value* kept;
  const Schema* type;  // null: not known
};

bool prints_as_json(const Schema* type) { return type != nullptr && type->name().starts_with("io.k8s.apimachinery."); }

void add_pair(const Value& sent, Value& kept, const Schema* type, std::vector<Pair>& pairs) {
  if (prints_as_json(type)) return;
  const bool objects = sent.is_object() && kept.is_object();
  // Items of lists of different lengths do not correspond.
  const bool lists = sent.is_array() && kept.is_array() && sent.get_array().size() == kept.get_array().size();
  if (objects || lists) pairs.push_back({&sent, &kept, type});
}

// Inserts the empty members of `sent` before it takes pointers to members of `kept`, because an insertion moves members.
bool restore_members(const Object& sent, Object& kept, const Schema* type, std::vector<Pair>& pairs) {
  bool restored = false;
  for (const auto& member : sent) {
    if (!is_empty(member.value())) continue;
    const Value* there = find(kept, member.key());
    if (there != nullptr && !there->is_null()) continue;
    kept[member.key()] = member.value();
    restored = true;
  }
  for (const auto& member : sent) {
    const Schema* own = type != nullptr ? type->property(member.key()) : nullptr;
    if (Value* there = find(kept, member.key())) add_pair(member.value(), *there, own, pairs);
  }
  return restored;
}

}  // namespace

bool restore_empty_values(const Object& sent, Object& object, const Schema* schema) {
  std::vector<Pair> pairs;
  bool restored = restore_members(sent, object, schema, pairs);
  while (!pairs.empty()) {
    const Pair pair = pairs.back();
    pairs.pop_back();
    if (pair.sent->is_object()) {
      restored = restore_members(pair.sent->get_object(), pair.kept->get_object(), pair.type, pairs) || restored;
      continue;
    }
    const Array& items = pair.sent->get_array();
    const Schema* item = pair.type != nullptr ? pair.type->items() : nullptr;
    for (std::size_t i = 0; i < items.size(); ++i) add_pair(items[i], pair.kept->get_array()[i], item, pairs);
  }
  return restored;
}

}  // namespace backplane::registry
