// Conditions of rules and defaults: read from a schema, and evaluated on an object.
#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "schema/rule_words.hpp"
#include "schema/scalars.hpp"

namespace backplane::schema {
namespace {

std::string_view view_of(const Value* value) noexcept {
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

bool is_there(const Value* value) { return value != nullptr && !value->is_null(); }
// A number in a text counts as a number, although validation refuses it.
bool is_something(const Value* value) {
  if (value == nullptr || number_or_percent(*value) != 0) return value != nullptr;
  std::string_view digits = view_of(value);
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  const bool number = digits.find_first_not_of("0123456789") == std::string_view::npos;
  return number && digits.find_first_not_of('0') != std::string_view::npos;
}
bool is_text(const Value* value) { return value != nullptr && value->is_string(); }
bool is_negative(const Value* value) { return !view_of(value).empty() && compare_quantities(view_of(value), "0") < 0; }
bool is_off(const Value* value) { return value != nullptr && value->is_bool() && !value->get_bool(); }
bool is_positive(const Value* value) { return !view_of(value).empty() && compare_quantities(view_of(value), "0") > 0; }

struct TestRow {
  std::string_view word;
  bool (*test)(const Value*);
};
constexpr TestRow kTests[] = {
    {"there", is_there},       {"absent", [](const Value* value) { return !is_there(value); }},
    {"nonZero", is_something}, {"zero", [](const Value* value) { return !is_something(value); }},
    {"positive", is_positive}, {"notPositive", [](const Value* value) { return !is_positive(value); }},
    {"negative", is_negative}, {"off", is_off},
    {"text", is_text},         {"number", [](const Value* value) { return is_there(value) && !is_text(value); }},
};

// Empty if the schema lacks the keyword.
std::vector<Condition> condition_set(const Object& members) {
  std::vector<Condition> out;
  for (const auto& [member, wanted] : members) {
    Condition& condition = out.emplace_back();
    condition.member = member_path(member);
    if (const Object* operand = wanted.if_object(); operand != nullptr && operand->contains("as")) {
      condition.as = member_path(get_string(*operand, "as"));
    } else if (wanted.is_object()) {
      const std::string_view word = get_string(wanted.get_object(), "is");
      const auto* row = std::find_if(std::begin(kTests), std::end(kTests), [&](const TestRow& each) { return each.word == word; });
      if (row == std::end(kTests)) return {};
      condition.is = row->test;
    } else if (wanted.is_array()) {
      for (const Value& each : wanted.get_array()) condition.values.emplace_back(each, json::storage_ptr());
    } else {
      condition.values.emplace_back(wanted, json::storage_ptr());
    }
  }
  return out;
}

bool holds(const std::vector<Condition>& all, const Object& object, const Object* root) noexcept {
  return std::all_of(all.begin(), all.end(), [&](const Condition& condition) {
    const Value* value = at(condition.member, object, root);
    if (condition.is != nullptr) return condition.is(value);
    if (condition.as) {
      const Value* other = at(*condition.as, object, root);
      return is_unset(value) ? is_unset(other) : other != nullptr && *value == *other;
    }
    const bool set = value != nullptr && !value->is_null() && !is_zero(*value);
    return std::any_of(condition.values.begin(), condition.values.end(), [&](const Value& wanted) {
      return wanted.is_bool() ? wanted.get_bool() == set : value != nullptr && *value == wanted;
    });
  });
}

}  // namespace

std::vector<std::string> string_items(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.get_array()) {
    if (item.is_string()) out.emplace_back(item.get_string());
  }
  return out;
}

std::string string_or_empty(const Value& value) { return value.is_string() ? std::string(value.get_string()) : std::string(); }

MemberPath member_path(std::string_view text) {
  MemberPath out;
  out.from_root = text.starts_with('/');
  if (out.from_root) text.remove_prefix(1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('.', begin), text.size());
    out.names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

Conditions conditions_of(const Value& value) {
  Conditions out;
  const Array sets = value.is_array() ? value.get_array() : Array{value};
  for (const Value& set : sets) {
    if (!set.is_object()) return {};
    out.push_back(condition_set(set.get_object()));
    if (out.back().empty()) return {};
  }
  return out;
}

const Value* at(const MemberPath& path, const Object& object, const Object* root) noexcept {
  const Object* holder = path.from_root ? root : &object;
  for (std::size_t i = 0; holder != nullptr; ++i) {
    const Value* value = find(*holder, path.names[i]);
    if (value == nullptr || i + 1 == path.names.size()) return value;
    holder = value->if_object();
  }
  return nullptr;
}

bool hold(const Conditions& conditions, const Object& object, const Object* root) noexcept {
  return conditions.empty() || std::any_of(conditions.begin(), conditions.end(), [&](const auto& set) { return holds(set, object, root); });
}

}  // namespace backplane::schema
