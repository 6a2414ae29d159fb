#include "verdict.hpp"

#include <algorithm>

#include "backplane/core/status.hpp"
#include "schema_rules.hpp"
#include "unpruned_definition.hpp"
#include "webhook_config.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::string_view kNotAccepted = "NotAccepted";

// The condition of a definition with accepted names. A definition whose objects cannot be converted is not served.
Condition established_condition(const Object& crd) {
  if (has_bad_authorities(crd)) return {"Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"};
  return {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"};
}

bool protected_group(std::string_view group) {
  const auto ends = [&](std::string_view end) { return group.size() > end.size() && group.substr(group.size() - end.size()) == end; };
  return group == "k8s.io" || group == "kubernetes.io" || ends(".k8s.io") || ends(".kubernetes.io");
}

// The condition KubernetesAPIApprovalPolicyConformant, for groups that need an approval. Validation has checked the format of the
// annotation.
std::optional<Condition> approval_condition(const Object& crd) {
  constexpr std::string_view kAnnotation = "api-approved.kubernetes.io";
  if (!protected_group(get_string(spec_of(crd), "group"))) return std::nullopt;
  const std::string text(get_string(object_or_empty(object_or_empty(crd, "metadata"), "annotations"), kAnnotation));
  const std::string type = "KubernetesAPIApprovalPolicyConformant";
  if (text.empty()) {
    return Condition{type, "False", "MissingAnnotation",
                     "protected groups must have approval annotation " + quoted(kAnnotation) +
                         ", see https://github.com/kubernetes/enhancements/pull/1111"};
  }
  if (text.rfind("unapproved", 0) == 0) return Condition{type, "False", "UnapprovedAnnotation", "not approved: " + quoted(text)};
  return Condition{type, "True", "ApprovedAnnotation", "approved in " + text};
}

constexpr std::string_view kNonStructural = "NonStructuralSchema";

void remove_condition(Object& crd, std::string_view type) {
  Value* status = find(crd, "status");
  Value* conditions = status != nullptr && status->is_object() ? find(status->get_object(), "conditions") : nullptr;
  if (conditions == nullptr || !conditions->is_array()) return;
  Array& all = conditions->get_array();
  const auto is_it = [type](const Value& each) { return each.is_object() && get_string(each.get_object(), "type") == type; };
  all.erase(std::remove_if(all.begin(), all.end(), is_it), all.end());
}

std::string schema_path(std::size_t version) { return "spec.versions[" + std::to_string(version) + "].schema.openAPIV3Schema"; }

// Adds the problems of one schema sorted by their texts, as upstream does.
void add_sorted(const FieldErrors& found, FieldErrors& errors) {
  std::vector<FieldError> sorted = found.list();
  std::sort(sorted.begin(), sorted.end(),
            [](const FieldError& a, const FieldError& b) { return a.field + ": " + a.text < b.field + ": " + b.text; });
  for (FieldError& error : sorted) errors.add(std::move(error));
}

// Returns nullopt if the schemas are structural and the definition prunes.
std::optional<Condition> structure_condition(const Object& crd) {
  FieldErrors errors;
  if (preserves_unknown_fields(crd)) errors.invalid_raw("spec.preserveUnknownFields", "true", "must be false");
  const std::vector<const Object*> versions = versions_of(crd);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Object* schema = schema_of(*versions[i]);
    if (schema == nullptr) continue;
    const std::string problem = structural_problem(*schema);
    if (!problem.empty()) {
      return Condition{std::string(kNonStructural), "Unknown", "StructuralError",
                       "failed to check validation schema for version " + std::string(get_string(*versions[i], "name")) + ": " + problem};
    }
    FieldErrors found;
    check_structure(*schema, schema_path(i), found);
    add_sorted(found, errors);
  }
  if (errors.empty()) return std::nullopt;
  return Condition{std::string(kNonStructural), "True", "Violations", errors.aggregate_message()};
}

}  // namespace

void Verdict::apply(Object& crd) const {
  if (accepted_names) ensure_object(crd, "status")["acceptedNames"] = *accepted_names;
  // If another server has set Established meanwhile, it stays set.
  const bool established = condition_is_true(crd, "Established");
  for (const Condition& condition : conditions) {
    if (!established || condition.type != "Established") set_condition(crd, condition);
  }
  if (drops_non_structural) remove_condition(crd, kNonStructural);
}

bool Verdict::gives_names() const noexcept {
  const auto accepts = [](const Condition& condition) { return condition.type == "NamesAccepted"; };
  return accepted_names.has_value() || std::any_of(conditions.begin(), conditions.end(), accepts);
}

Condition* Verdict::establishing() noexcept {
  const auto establishes = [](const Condition& condition) { return condition.type == "Established" && condition.reason != kNotAccepted; };
  const auto found = std::find_if(conditions.begin(), conditions.end(), establishes);
  return found == conditions.end() ? nullptr : &*found;
}

Condition installing_condition() { return {"Established", "False", "Installing", "the initial names have been accepted"}; }

bool needs_names(const Object& crd) { return !names_are_accepted(crd) || find_condition(crd, "NamesAccepted") == nullptr; }

Verdict judge(const Object& crd, const TakenNames& taken) {
  Verdict verdict;
  bool accepted = condition_is_true(crd, "NamesAccepted");
  if (needs_names(crd)) {
    NamingResult naming = accept_names(crd, taken);
    accepted = naming.names_accepted();
    if (!has_condition(crd, naming.accepted_condition)) verdict.conditions.push_back(naming.accepted_condition);
    if (naming.accepted != accepted_names_of(crd)) verdict.accepted_names = std::move(naming.accepted);
  }
  if (!condition_is_true(crd, "Established")) {
    Condition wanted =
        accepted ? established_condition(crd) : Condition{"Established", "False", std::string(kNotAccepted), "not all names are accepted"};
    // Without accepted names, an existing condition is not changed.
    const bool is_present = accepted ? has_condition(crd, wanted) : find_condition(crd, "Established") != nullptr;
    if (!is_present) verdict.conditions.push_back(std::move(wanted));
  }
  if (auto approval = approval_condition(crd); approval && !has_condition(crd, *approval))
    verdict.conditions.push_back(std::move(*approval));
  return verdict;
}

void verify_structure(const Object& crd, Verdict& verdict) {
  std::optional<Condition> condition = structure_condition(crd);
  if (!condition)
    verdict.drops_non_structural = find_condition(crd, kNonStructural) != nullptr;
  else if (!has_condition(crd, *condition))
    verdict.conditions.push_back(std::move(*condition));
}

}  // namespace backplane::apiextensions
