#include "webhooks/label_match.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::admission::webhooks {
namespace {

// One requirement in the syntax of LabelSelector::parse().
std::string requirement_text(const Object& expression) {
  const std::string key(get_string(expression, "key"));
  const std::string_view op = get_string(expression, "operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string values;
  each_text(expression, "values", [&](std::string_view value, std::size_t i) { values.append(i > 0 ? "," : "").append(value); });
  return key + (op == "In" ? " in (" : " notin (") + values + ")";
}

void join_requirement(std::string& all, const std::string& text) { all.append(all.empty() ? "" : ",").append(text); }

}  // namespace

LabelMatch read_label_selector(const Object* selector) {
  LabelMatch out;
  if (selector == nullptr) return out;
  std::string text;
  for (const auto& label : object_or_empty(*selector, "matchLabels")) {
    join_requirement(text, std::string(label.key()) + "=" + std::string(text_of(label.value())));
  }
  each(*selector, "matchExpressions", [&](const Object& expression, std::size_t) { join_requirement(text, requirement_text(expression)); });
  auto parsed = LabelSelector::parse(text);
  if (parsed.ok()) {
    out.selector = std::move(*parsed);
  } else {
    out.problem = std::move(parsed.status());
  }
  return out;
}

Labels labels_of_object(const Object& object) {
  Labels out;
  const Object* metadata = get_object(object, "metadata");
  const Object* labels = metadata != nullptr ? get_object(*metadata, "labels") : nullptr;
  if (labels == nullptr) return out;
  for (const auto& label : *labels) out.emplace_back(std::string(label.key()), std::string(text_of(label.value())));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace backplane::admission::webhooks
