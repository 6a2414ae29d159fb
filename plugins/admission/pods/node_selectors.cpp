#include "pods/node_selectors.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kSelectorMember = "podNodeSelectorPluginConfig";

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string trimmed_label(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n\v\f") - first + 1));
}

// The error that results from a Go error that is not a Status: 500 without a reason.
Status plain_error(std::string text) { return Status(500, Reason::kNone, std::move(text)); }

Status check_label(const std::string& key, const std::string& value) {
  FieldErrors errors;
  if (const Problems problems = is_qualified_name(key); !problems.empty()) {
    errors.invalid("", key, joined(problems, "; "));
  } else if (const Problems of_value = is_valid_label_value(value); !of_value.empty()) {
    errors.invalid("[" + key + "]", value, joined(of_value, "; "));
  }
  return errors.empty() ? Status() : plain_error(errors.aggregate_message());
}

std::string printed_parts(const std::vector<std::string_view>& parts) {
  return "[" + joined(std::vector<std::string>(parts.begin(), parts.end()), " ") + "]";
}

}  // namespace

Result<LabelMap> labels_of_selector(std::string_view selector) {
  LabelMap labels;
  if (selector.empty()) return labels;
  for (const std::string_view label : split_at(selector, ',')) {
    const std::vector<std::string_view> parts = split_at(label, '=');
    if (parts.size() != 2) return plain_error("invalid selector: " + printed_parts(parts));
    const std::string key = trimmed_label(parts[0]), value = trimmed_label(parts[1]);
    Status valid = check_label(key, value);
    if (!valid.ok()) return valid;
    labels[key] = value;
  }
  return labels;
}

LabelMap labels_of(const Object& labels) {
  LabelMap out;
  for (const auto& label : labels) out.emplace(std::string(label.key()), std::string(text_of(label.value())));
  return out;
}

bool labels_conflict(const LabelMap& a, const LabelMap& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& label) {
    const auto other = b.find(label.first);
    return other != b.end() && other->second != label.second;
  });
}

bool is_label_subset(const LabelMap& some, const LabelMap& all) {
  if (all.empty()) return true;
  return std::all_of(some.begin(), some.end(), [&](const auto& label) {
    const auto other = all.find(label.first);
    return other != all.end() && other->second == label.second;
  });
}

Result<LabelMap> parse_node_selector_config(std::string_view text) {
  if (text.empty()) return LabelMap();
  auto tree = parse_json(text, {}, nullptr);
  if (!tree.ok()) return std::move(tree).status();
  if (!tree->is_object()) return bad_request("the configuration must be an object");
  LabelMap selectors;
  for (const auto& member : tree->get_object()) {
    // Go reads member names regardless of case.
    if (lower_case(member.key()) != lower_case(kSelectorMember))
      return bad_request("unknown field " + backplane::quoted(std::string_view(member.key())));
    const Object* rows = member.value().if_object();
    const bool texts = rows != nullptr && std::all_of(rows->begin(), rows->end(), [](const auto& row) { return row.value().is_string(); });
    if (!texts && !member.value().is_null()) return bad_request(std::string(kSelectorMember) + " must be an object of strings");
    if (rows != nullptr) selectors = labels_of(*rows);
  }
  return selectors;
}

}  // namespace backplane::admission::pods
