#include "column_path.hpp"

#include <algorithm>

namespace backplane::apiextensions {
namespace {

// The maximum length of a path. It limits the recursion of the parser and of the evaluation, because filters may be nested.
constexpr std::size_t kMaxText = 4096;
// The maximum number of visited values for one cell: ".." within ".." would visit the whole object for each part of it.
constexpr std::size_t kMaxLooks = 200'000;

// A found value. The root is an Object without a Value.
struct Item {
  const Value* value = nullptr;
  const Object* root = nullptr;

  const Object* object() const { return value == nullptr ? root : value->is_object() ? &value->get_object() : nullptr; }
  const Array* array() const { return value != nullptr && value->is_array() ? &value->get_array() : nullptr; }
  bool is_null() const { return value != nullptr && value->is_null(); }
};
using Items = std::vector<Item>;

// -1, 0 or 1; nullopt if the values cannot be compared: an integer cannot be compared with a floating-point number.
std::optional<int> compare(const Value& a, const Value& b, bool by_size) {
  if (a.is_int64() && b.is_int64()) return a.get_int64() < b.get_int64() ? -1 : a.get_int64() > b.get_int64() ? 1 : 0;
  const auto is_real = [](const Value& value) { return value.is_double() || value.is_uint64(); };
  if (is_real(a) && is_real(b)) {
    const auto left = a.to_number<double>();
    const auto right = b.to_number<double>();
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (a.is_string() && b.is_string()) {
    const int order = a.get_string().compare(b.get_string());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is_bool() && b.is_bool() && !by_size) return a.get_bool() == b.get_bool() ? 0 : 1;
  return std::nullopt;
}

// Whether "left op right" holds; nullopt if the values cannot be compared.
std::optional<bool> holds(const Value& left, std::string_view op, const Value& right) {
  const bool equality = op == "==" || op == "!=";
  const std::optional<int> order = compare(left, right, !equality);
  if (!order) return std::nullopt;
  if (op == "==") return *order == 0;
  if (op == "!=") return *order != 0;
  if (op == "<") return *order < 0;
  if (op == "<=") return *order <= 0;
  if (op == ">") return *order > 0;
  if (op == ">=") return *order >= 0;
  return std::nullopt;
}

class Walk {
 public:
  // The result of the steps; nullopt if one of them cannot be applied.
  std::optional<Items> take(const PathSteps& steps, Items from) {
    for (const PathStep& step : steps) {
      Items found;
      if (!look(from.size()) || !take(step, from, found)) return std::nullopt;
      from = std::move(found);
    }
    return from;
  }

 private:
  bool take(const PathStep& step, const Items& from, Items& found) {
    const auto each = [&](auto&& look) { return std::all_of(from.begin(), from.end(), look); };
    switch (step.kind) {
      case PathStep::Kind::kField:
        return members(step.name, from, found);
      case PathStep::Kind::kWildcard:
        return each([&](const Item& item) { return children(item, found); });
      case PathStep::Kind::kRecursive:
        return each([&](const Item& item) { return all_below(item, found); });
      case PathStep::Kind::kSlice:
        return slices(step, from, found);
      case PathStep::Kind::kUnion:
        return alternatives(step, from, found);
      case PathStep::Kind::kFilter:
        return each([&](const Item& item) { return filtered(step, item, found); });
      case PathStep::Kind::kLiteral:
        return each([&](const Item&) { return add({&step.literal}, found); });
      case PathStep::Kind::kText:
        return add({&step.literal}, found);
      case PathStep::Kind::kWord:
        return false;
    }
    return false;
  }

  // Counts visited values and branches without a result. Returns false if the limit is exceeded.
  bool look(std::size_t things) {
    looks_ += things;
    return looks_ <= kMaxLooks;
  }

  bool add(Item item, Items& found) {
    found.push_back(item);
    return look(1);
  }

  bool members(const std::string& name, const Items& from, Items& found) {
    for (const Item& item : from) {
      const Object* object = item.object();
      const Value* member = object != nullptr ? find(*object, name) : nullptr;
      if (member != nullptr && !add({member}, found)) return false;
    }
    return true;
  }

  bool children(const Item& item, Items& found) {
    if (const Object* object = item.object()) {
      return std::all_of(object->begin(), object->end(), [&](const auto& member) { return add({&member.value()}, found); });
    }
    const Array* array = item.array();
    return array == nullptr || std::all_of(array->begin(), array->end(), [&](const Value& each) { return add({&each}, found); });
  }

  // Adds `item` and all containers in it, for "..". A text that is not empty counts as a container of characters.
  bool all_below(const Item& item, Items& found) {
    Items below;
    if (!children(item, below)) return false;
    const bool text = item.value != nullptr && item.value->is_string() && !item.value->get_string().empty();
    if (below.empty() && !text) return true;
    return add(item, found) && std::all_of(below.begin(), below.end(), [&](const Item& each) { return all_below(each, found); });
  }

  bool slices(const PathStep& step, const Items& from, Items& found) {
    for (const Item& item : from) {
      if (item.is_null()) continue;
      const Array* array = item.array();
      if (array == nullptr) return false;
      const auto size = static_cast<std::int64_t>(array->size());
      std::int64_t begin = step.bounds[0].value.value_or(0);
      if (begin < 0) begin += size;
      std::int64_t end = step.bounds[1].value.value_or(size);
      if (end < 0 || (end == 0 && step.bounds[1].derived)) end += size;
      if (begin == end) return true;  // as upstream, an empty slice of one list ends the step for all further lists
      const std::int64_t stride = step.bounds[2].value.value_or(1);
      if (begin < 0 || begin >= size || end > size || begin > end || stride <= 0) return false;
      for (std::int64_t i = begin; i < end; i += std::min(stride, end)) {
        if (!add({&(*array)[static_cast<std::size_t>(i)]}, found)) return false;
      }
    }
    return true;
  }

  bool alternatives(const PathStep& step, const Items& from, Items& found) {
    for (const PathSteps& part : step.parts) {
      const auto some = take(part, from);
      if (!some) return false;
      found.insert(found.end(), some->begin(), some->end());
    }
    return true;
  }

  bool filtered(const PathStep& step, const Item& item, Items& found) {
    const Array* array = item.array();
    if (array == nullptr) return false;
    for (const Value& each : *array) {
      const std::optional<bool> passes = passes_filter(step, {&each});
      if (!passes || (*passes && !add({&each}, found))) return false;
    }
    return true;
  }

  std::optional<bool> passes_filter(const PathStep& step, const Item& item) {
    const auto left = take(step.parts[0], {item});
    if (step.name.empty()) return !left || !left->empty();  // as upstream, a path that cannot be applied counts as existing
    if (!left || left->size() > 1) return std::nullopt;
    if (left->empty()) return false;
    const auto right = take(step.parts[1], {item});
    if (!right || right->size() > 1) return std::nullopt;
    if (right->empty()) return false;
    return holds(*left->front().value, step.name, *right->front().value);
  }

  std::size_t looks_ = 0;
};

bool only_members(const PathSteps& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const PathStep& step) { return step.kind == PathStep::Kind::kField; });
}

// The fast path for steps that are only names: it needs no lists of found values.
const Value* follow(const PathSteps& steps, Item at) {
  for (const PathStep& step : steps) {
    const Object* object = at.object();
    at = {object != nullptr ? find(*object, step.name) : nullptr};
    if (at.value == nullptr) return nullptr;
  }
  return at.value;
}

}  // namespace

std::optional<ColumnPath> ColumnPath::parse(std::string_view text) {
  if (text.size() > kMaxText) return std::nullopt;
  auto steps = parse_path_steps(text);
  if (!steps) return std::nullopt;
  return ColumnPath(std::move(*steps));
}

const Value* ColumnPath::first(const Object& root) const {
  if (only_members(steps_)) return follow(steps_, {nullptr, &root});
  const auto found = Walk().take(steps_, {{nullptr, &root}});
  if (!found) return nullptr;
  // The root has no Value, so it cannot be returned.
  const auto first = std::find_if(found->begin(), found->end(), [](const Item& item) { return item.value != nullptr; });
  return first == found->end() ? nullptr : first->value;
}

}  // namespace backplane::apiextensions
