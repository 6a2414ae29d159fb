#include "policies/label_selection.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::policies {
namespace {

std::string requirement_text(const Object& expression) {
  const std::string key(get_string(expression, "key"));
  const std::string_view op = get_string(expression, "operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string values;
  each_text(expression, "values", [&](std::string_view value, std::size_t i) { values.append(i > 0 ? "," : "").append(value); });
  return key + (op == "NotIn" ? " notin (" : " in (") + values + ")";
}

bool meets(const LabelSelector::Requirement& requirement, const Value* label) noexcept {
  using Op = LabelSelector::Op;
  const auto is_any = [&] {
    return label != nullptr && std::find(requirement.values.begin(), requirement.values.end(), text_of(*label)) != requirement.values.end();
  };
  switch (requirement.op) {
    case Op::kEquals:
    case Op::kIn:
      return is_any();
    case Op::kNotEquals:
    case Op::kNotIn:
      return !is_any();
    case Op::kExists:
      return label != nullptr;
    case Op::kNotExists:
      return label == nullptr;
    case Op::kGreater:
    case Op::kLess:
      break;  // a LabelSelector has none of these
  }
  return false;
}

}  // namespace

Result<LabelSelector> label_selector_of(const Object& selector) {
  std::string text;
  const auto add = [&](const std::string& requirement) { text.append(text.empty() ? "" : ",").append(requirement); };
  for (const auto& label : object_or_empty(selector, "matchLabels")) {
    add(std::string(label.key()) + "=" + std::string(text_of(label.value())));
  }
  each(selector, "matchExpressions", [&](const Object& expression, std::size_t) { add(requirement_text(expression)); });
  return LabelSelector::parse(text);
}

bool selects(const LabelSelector& selector, const Object* labels) noexcept {
  return std::all_of(selector.requirements().begin(), selector.requirements().end(), [&](const LabelSelector::Requirement& requirement) {
    return meets(requirement, labels == nullptr ? nullptr : find(*labels, requirement.key));
  });
}

}  // namespace backplane::admission::policies
