// Assembles the group admissionregistration.k8s.io.
#include <array>
#include <stdexcept>

#include "admissionregistration_group_json.hpp"
#include "admissionregistration_v1_json.hpp"
#include "admissionregistration_v1alpha1_json.hpp"
#include "admissionregistration_v1beta1_json.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"
#include "kinds.hpp"
#include "rules.hpp"

namespace backplane::admissionregistration {
namespace {

using namespace kit;

std::shared_ptr<const SchemaSet> set_of(std::string_view document, std::vector<std::shared_ptr<const SchemaSet>> imports) {
  auto made = SchemaSet::embedded({&document, 1}, std::move(imports));
  if (!made.ok()) throw std::logic_error(made.status().message());
  return std::move(*made);
}

// Formats a selector as Go prints the struct LabelSelector.
std::string go_text(const Object& selector) {
  std::map<std::string_view, std::string_view> labels;
  for (const auto& label : object_or_empty(selector, "matchLabels")) labels.emplace(label.key(), text_of(label.value()));
  std::string out = "&LabelSelector{MatchLabels:map[string]string{";
  for (const auto& [key, value] : labels) out.append(key).append(": ").append(value).append(",");
  out += "},MatchExpressions:[]LabelSelectorRequirement{";
  each(selector, "matchExpressions", [&](const Object& expression, std::size_t) {
    out.append("LabelSelectorRequirement{Key:").append(get_string(expression, "key"));
    out.append(",Operator:").append(get_string(expression, "operator")).append(",Values:[");
    each_text(expression, "values", [&](std::string_view value, std::size_t i) { out.append(i > 0 ? " " : "").append(value); });
    out += "],},";
  });
  return out + "},}";
}

void print_param_ref(const Object& object, std::int64_t, Array& cells) {
  const Object& params = object_or_empty(object_or_empty(object, "spec"), "paramRef");
  const std::string name(get_string(params, "name")), ns(get_string(params, "namespace"));
  const Object* selector = get_object(params, "selector");
  if (!name.empty()) {
    cells.emplace_back((ns.empty() ? "*" : ns) + "/" + name);
  } else {
    cells.emplace_back(selector != nullptr ? go_text(*selector) : "<unset>");
  }
}

void warn_of_static_name(const Value& name, const std::string& path, std::vector<std::string>& warnings) {
  const std::string problem = static_name_problem(text_of(name));
  if (!problem.empty()) warnings.push_back(path + ": " + problem);
}
void warn_of_nothing(const Value&, const std::string&, std::vector<std::string>&) {}

}  // namespace

std::vector<std::shared_ptr<const SchemaSet>> admissionregistration_schemas() {
  static const auto sets = [] {
    const auto v1 = set_of(admissionregistration_v1_json(), {meta_schemas()});
    return std::vector{v1, set_of(admissionregistration_v1beta1_json(), {meta_schemas(), v1}),
                       set_of(admissionregistration_v1alpha1_json(), {meta_schemas(), v1})};
  }();
  return sets;
}

Result<GroupDocument> admissionregistration_group(bool reserved) {
  GroupCode code;
  code.printers.emplace("paramRef", print_param_ref);
  code.warnings.insert({"staticName", reserved ? warn_of_nothing : warn_of_static_name});
  const std::pair<const char*, MakeStrategy> kinds[] = {{"ValidatingWebhookConfiguration", make_webhook_configuration(reserved)},
                                                        {"MutatingWebhookConfiguration", make_webhook_configuration(reserved)},
                                                        {"ValidatingAdmissionPolicy", make_validating_policy(reserved)},
                                                        {"ValidatingAdmissionPolicyBinding", make_validating_binding(reserved)},
                                                        {"MutatingAdmissionPolicy", make_mutating_policy(reserved)},
                                                        {"MutatingAdmissionPolicyBinding", make_mutating_binding(reserved)}};
  for (const auto& [kind, make] : kinds) code.kinds[kind] = {.make = make};
  return read_group(admissionregistration_group_json(), code);
}

}  // namespace backplane::admissionregistration
