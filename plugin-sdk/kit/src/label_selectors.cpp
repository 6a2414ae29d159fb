#include "backplane/kit/label_selectors.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::kit {
namespace {

// Returns one requirement in the syntax of LabelSelector::parse().
std::string selector_requirement_text(const Object& expression) {
  const std::string key(get_string(expression, "key"));
  const std::string_view op = get_string(expression, "operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string values;
  each_text(expression, "values", [&](std::string_view value, std::size_t i) { values.append(i > 0 ? "," : "").append(value); });
  return key + (op == "In" ? " in (" : " notin (") + values + ")";
}

}  // namespace

Result<LabelSelector> label_selector_of(const Object& selector) {
  std::string text;
  const auto add = [&](const std::string& requirement) { text.append(text.empty() ? "" : ",").append(requirement); };
  for (const auto& label : object_or_empty(selector, "matchLabels")) {
    add(std::string(label.key()) + "=" + std::string(text_of(label.value())));
  }
  each(selector, "matchExpressions", [&](const Object& expression, std::size_t) { add(selector_requirement_text(expression)); });
  return LabelSelector::parse(text);
}

Labels labels_of_object(const Object& object) {
  Labels out;
  for (const auto& label : object_or_empty(object_or_empty(object, "metadata"), "labels")) {
    out.emplace_back(std::string(label.key()), std::string(text_of(label.value())));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace backplane::kit
