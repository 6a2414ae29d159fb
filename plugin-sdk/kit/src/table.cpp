#include "backplane/kit/table.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/selectors.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

const Object* object_at(const Value* found) { return found != nullptr ? found->if_object() : nullptr; }

void print_age(const Object& object, std::int64_t now_unix, Array& cells) { cells.emplace_back(age_of(object, now_unix)); }

// Returns a requirement in the syntax of label selectors.
std::string print_expression(const Object& expression) {
  const std::string key(get_string(expression, "key"));
  const std::string_view op = get_string(expression, "operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::vector<std::string> values;
  if (const Array* list = get_array(expression, "values")) {
    for (const Value& value : *list) values.emplace_back(text_of(value));
  }
  std::sort(values.begin(), values.end());
  return key + (op == "NotIn" ? " notin (" : " in (") + joined(values) + ")";
}

}  // namespace

TableColumn name_column() {
  return {.name = "Name",
          .format = "name",
          .description = "Name of the object, unique among the objects of its kind in its namespace.",
          .path = ".metadata.name"};
}
TableColumn age_column() {
  return {.name = "Age", .description = "Time since the server stored the object for the first time.", .absent = "", .cells = print_age};
}
void print_entries(const Object& object, std::int64_t, Array& cells) {
  cells.emplace_back(static_cast<std::int64_t>(object_or_empty(object, "data").size() + object_or_empty(object, "binaryData").size()));
}

Value show_number(const Value* found, std::int64_t) { return found != nullptr && found->is_int64() ? *found : Value(0); }
Value show_age(const Value* found, std::int64_t now_unix) {
  return Value(found != nullptr && found->is_string() ? human_age(text_of(*found), now_unix) : "<unknown>");
}
Value show_labels(const Value* found, std::int64_t) { return Value(print_labels(object_at(found))); }
Value show_selector(const Value* found, std::int64_t) { return Value(print_selector(object_at(found))); }

std::string age_of(const Object& object, std::int64_t now_unix) { return human_age(meta_text(object, "creationTimestamp"), now_unix); }

std::string print_labels(const Object* labels) {
  if (labels == nullptr || labels->empty()) return "<none>";
  std::vector<std::string> parts;
  for (const auto& label : *labels) parts.push_back(std::string(label.key()) + "=" + std::string(text_of(label.value())));
  std::sort(parts.begin(), parts.end());
  return joined(parts);
}

std::string print_selector(const Object* selector) {
  std::vector<std::pair<std::string, std::string>> parts;  // by key
  if (selector != nullptr) {
    for (const auto& label : object_or_empty(*selector, "matchLabels")) {
      parts.emplace_back(label.key(), std::string(label.key()) + "=" + std::string(text_of(label.value())));
    }
    each(*selector, "matchExpressions",
         [&](const Object& expression, std::size_t) { parts.emplace_back(get_string(expression, "key"), print_expression(expression)); });
  }
  if (parts.empty()) return "<none>";
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (const auto& [key, text] : parts) out.append(out.empty() ? "" : ",").append(text);
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
