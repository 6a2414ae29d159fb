#include "backplane/rest/warnings.hpp"

#include <algorithm>
#include <stdexcept>

#include "schema/scalars.hpp"

namespace backplane BACKPLANE_API {
namespace {

bool is_there(const Value& value) { return !value.is_null() && !(value.is_array() && value.get_array().empty()); }

bool holds(const WarningRow::Conditions& conditions, const Object& object) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const WarningRow::Condition& condition) { return condition.places.any(object, condition.values); });
}

bool one_holds(const std::vector<WarningRow::Conditions>& sets, const Object& object) {
  return std::any_of(sets.begin(), sets.end(), [&](const WarningRow::Conditions& set) { return holds(set, object); });
}

bool is_asked(const WarningRow& row, const Object& object, const Object* old) {
  if (old != nullptr && row.on_create) return false;
  if (!row.when.empty() && !one_holds(row.when, object)) return false;
  if (one_holds(row.unless, object)) return false;
  bool was_there = false;
  if (old != nullptr && row.when_new) row.places.each(*old, [&](const Value&, const std::string&) { was_there = true; });
  return !was_there;
}

}  // namespace

FieldPlaces::FieldPlaces(std::string_view text) {
  while (!text.empty()) {
    if (text.front() != '[') {
      const std::size_t end = std::min(text.find_first_of(".["), text.size());
      add_members(text.substr(0, end));
      text.remove_prefix(end);
    } else {
      const std::size_t end = text.find(']');
      if (end == std::string_view::npos || end == 1) throw std::invalid_argument("a path with an unclosed bracket");
      const std::string_view key = text.substr(1, end - 1);
      steps_.push_back(key == "*" ? Step{Kind::kItems} : Step{Kind::kKey, {std::string(key)}});
      text.remove_prefix(end + 1);
    }
    if (text.starts_with('.') && text.size() > 1) text.remove_prefix(1);
  }
  if (steps_.empty()) throw std::invalid_argument("an empty path");
}

void FieldPlaces::add_members(std::string_view names) {
  Step step{Kind::kMember};
  for (;;) {
    const std::size_t end = std::min(names.find('|'), names.size());
    if (end == 0) throw std::invalid_argument("a path with an empty name");
    step.names.emplace_back(names.substr(0, end));
    if (end == names.size()) break;
    names.remove_prefix(end + 1);
  }
  steps_.push_back(std::move(step));
}

void FieldPlaces::each(const Object& object, const Visit& visit) const { walk_from(object, 0, "", visit); }

void FieldPlaces::walk_from(const Object& object, std::size_t next, const std::string& path, const Visit& visit) const {
  const Step& step = steps_[next];
  for (const std::string& name : step.names) {
    const Value* found = find(object, name);
    if (found == nullptr) continue;
    const bool key = step.kind == Kind::kKey;
    walk(*found, next + 1, key ? path + "[" + name + "]" : path.empty() ? name : path + "." + name, visit);
  }
}

void FieldPlaces::walk(const Value& value, std::size_t next, const std::string& path, const Visit& visit) const {
  if (!is_there(value)) return;
  if (next == steps_.size()) return visit(value, path);
  if (steps_[next].kind != Kind::kItems) {
    if (value.is_object()) walk_from(value.get_object(), next, path, visit);
  } else if (value.is_array()) {
    std::size_t index = 0;
    for (const Value& item : value.get_array()) walk(item, next + 1, path + "[" + std::to_string(index++) + "]", visit);
  }
}

bool FieldPlaces::any(const Object& object, const std::vector<Value>& values) const {
  bool set = false;
  bool equal = false;
  each(object, [&](const Value& found, const std::string&) {
    set = set || !schema::is_zero(found);
    equal = equal || std::find(values.begin(), values.end(), found) != values.end();
  });
  return equal || std::find(values.begin(), values.end(), Value(set)) != values.end();
}

std::vector<std::string> warnings_of(const std::vector<WarningRow>& rows, const Object& object, const Object* old) {
  std::vector<std::string> out;
  for (const WarningRow& row : rows) {
    if (!is_asked(row, object, old)) continue;
    row.places.each(object, [&](const Value& found, const std::string& path) {
      if (row.check != nullptr) row.check(found, path, out);
      if (!row.warning.empty()) out.push_back(row.warning);
      if (!row.text.empty()) out.push_back(path + ": " + row.text);
    });
  }
  return out;
}

}  // namespace BACKPLANE_API
