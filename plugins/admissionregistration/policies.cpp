// Strategies of admission policies and their bindings, validating and mutating. The expressions of a policy are compiled in order: an
// expression may use the variables that are declared before it.
#include <algorithm>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/names.hpp"
#include "kinds.hpp"
#include "rules.hpp"

namespace backplane::admissionregistration {
namespace {

using namespace kit;

constexpr std::size_t kMostAnnotations = 20;
constexpr std::size_t kLongestAnnotation = 5 * 1024;

std::string joined_problems(const Problems& problems) {
  std::string out;
  for (const std::string& problem : problems) out += (out.empty() ? "" : ",") + problem;
  return out;
}

void check_param_version(std::string_view version, const std::string& path, FieldErrors& errors) {
  if (version.empty()) return errors.required(path);
  if (std::count(version.begin(), version.end(), '/') > 1) {
    return errors.invalid(path, version, "unexpected GroupVersion string: " + std::string(version));
  }
  const auto slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? version : version.substr(slash + 1);
  const std::string wrong_group = group.empty() ? "" : joined_problems(is_dns1123_subdomain(group));
  if (!wrong_group.empty()) errors.invalid(path, group, wrong_group);
  if (name.empty()) return errors.invalid(path, version, "version must be specified");
  const std::string wrong_name = joined_problems(is_dns1035_label(name));
  if (!wrong_name.empty()) errors.invalid(path, name, wrong_name);
}

void check_param_kind(const Object& spec, FieldErrors& errors) {
  const Object* kind = get_object(spec, "paramKind");
  if (kind == nullptr) return;
  check_param_version(get_string(*kind, "apiVersion"), "spec.paramKind.apiVersion", errors);
  const std::string_view name = get_string(*kind, "kind");
  if (name.empty()) return errors.required("spec.paramKind.kind");
  const std::string problems = joined_problems(is_dns1035_label(lower_case(name)));
  if (!problems.empty()) errors.invalid("spec.paramKind.kind", name, "may have mixed case, but should otherwise match: " + problems);
}

void check_match(const Object& match, const std::string& path, FieldErrors& errors) {
  check_operation_rules(match, "resourceRules", at(path, "resourceRules"), errors);
  check_operation_rules(match, "excludeResourceRules", at(path, "excludeResourceRules"), errors);
}

// The common parts of all policies: parameters, matching, conditions and variables.
class Policy {
 public:
  // `always`: the variable `variables` exists even if none is declared.
  Policy(const Object& object, bool always, FieldErrors& errors)
      : spec_(object_or_empty(object, "spec")), always_(always || count_of(spec_, "variables") > 0), errors_(errors) {}

  const Object& spec() const { return spec_; }

  void check_common(const Object* old) {
    check_param_kind(spec_, errors_);
    check_match(object_or_empty(spec_, "matchConstraints"), "spec.matchConstraints", errors_);
    const Object& before = old != nullptr ? object_or_empty(*old, "spec") : spec_;
    const bool changed = old == nullptr || !same_member(spec_, before, "paramKind") || !same_member(spec_, before, "matchConditions");
    if (changed) check_match_conditions(spec_, {.params = has(spec_, "paramKind")}, "spec.matchConditions", errors_);
    each(spec_, "variables", [&](const Object& variable, std::size_t i) { check_variable(variable, at("spec.variables", i)); });
  }

  // `types`: the allowed result types.
  void expression(std::string_view expression, std::string_view shown, std::initializer_list<std::string_view> types,
                  const std::string& path) {
    check_expression(expression, shown, names(expression), types, path, errors_);
  }
  // A message expression cannot use the authorizer.
  void message(std::string_view expression, const std::string& path) {
    cel::PolicyNames names_without = names(expression);
    names_without.authorizer = false;
    check_expression(expression, expression, names_without, {"string"}, path, errors_);
  }
  void mutation(std::string_view expression, std::string_view type, const std::string& path) {
    cel::PolicyNames with_patches = names(expression);
    with_patches.patches = true;
    check_expression(expression, expression, with_patches, {type}, path, errors_);
  }

 private:
  // The result refers to mentioned_ and is valid until the next call. Only the variables that the expression mentions are declared: a type
  // with all variables for each expression would need quadratic time.
  cel::PolicyNames names(std::string_view expression) {
    mentioned_.clear();
    const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::set<std::size_t> places;
    for (auto at = expression.begin(); at != expression.end();) {
      const auto begin = std::find_if(at, expression.end(), is_part);
      at = std::find_if_not(begin, expression.end(), is_part);
      const auto found = places_.find(std::string_view(begin, at));
      if (found != places_.end()) places.insert(found->second.begin(), found->second.end());
    }
    for (const std::size_t place : places) mentioned_.push_back(variables_[place]);
    return {.params = has(spec_, "paramKind"), .variables = always_ ? &mentioned_ : nullptr};
  }

  void check_variable(const Object& variable, const std::string& path) {
    const std::string_view name = get_string(variable, "name"), expression = get_string(variable, "expression");
    if (trimmed(name).empty()) {
      errors_.required(at(path, "name"), "name is not specified");
    } else if (!cel::is_identifier(name)) {
      errors_.invalid(at(path, "name"), name, "must be a valid CEL identifier");
    }
    if (trimmed(expression).empty()) return errors_.required(at(path, "expression"), "expression is not specified");
    const auto program = check_expression(expression, expression, names(expression), {"any"}, at(path, "expression"), errors_);
    places_[std::string(name)].push_back(variables_.size());
    variables_.emplace_back(name, cel::policy_variable(program.get()));
  }

  const Object& spec_;
  const bool always_;
  FieldErrors& errors_;
  cel::PolicyVariables variables_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> places_;  // indexes into variables_ by name
  cel::PolicyVariables mentioned_;
};

bool has_newlines(std::string_view text) { return text.find_first_of("\n\r") != std::string_view::npos; }

void check_validation(Policy& policy, const Object& validation, const std::string& path, FieldErrors& errors) {
  const std::string_view expression = get_string(validation, "expression"),
                         message_expression = get_string(validation, "messageExpression");
  if (trimmed(expression).empty()) {
    errors.required(at(path, "expression"), "expression is not specified");
  } else {
    policy.expression(expression, expression, {"bool"}, at(path, "expression"));
  }
  if (!message_expression.empty() && trimmed(message_expression).empty()) {
    errors.invalid(at(path, "messageExpression"), message_expression, "must be non-empty if specified");
  } else if (!message_expression.empty()) {
    policy.message(message_expression, at(path, "messageExpression"));
  }
  const std::string_view message = get_string(validation, "message");
  if (!message.empty() && trimmed(message).empty()) {
    errors.invalid(at(path, "message"), message, "must be non-empty if specified");
  } else if (has_newlines(trimmed(message))) {
    errors.invalid(at(path, "message"), message, "must not contain line breaks");
  }
}

void check_annotation(Policy& policy, std::string_view name, const Object& annotation, const std::string& path, FieldErrors& errors) {
  const std::string_view key = get_string(annotation, "key");
  const std::string whole = std::string(name) + "/" + std::string(key);
  if (name.empty()) errors.invalid(at(path, "key"), key, "requires metadata.name be non-empty");
  for (const std::string& problem : name.empty() ? Problems() : is_qualified_name(whole)) errors.invalid(at(path, "key"), whole, problem);
  const std::string_view expression = get_string(annotation, "valueExpression"), inner = trimmed(expression);
  if (inner.empty()) return errors.required(at(path, "valueExpression"), "valueExpression is not specified");
  if (inner.size() > kLongestAnnotation) {
    return errors.required(at(path, "valueExpression"), "must not exceed " + std::to_string(kLongestAnnotation) + " bytes in length");
  }
  policy.expression(inner, expression, {"string", "null"}, at(path, "valueExpression"));
}

void check_annotations(Policy& policy, std::string_view name, FieldErrors& errors) {
  const std::string path = "spec.auditAnnotations";
  if (count_of(policy.spec(), "auditAnnotations") > kMostAnnotations) {
    const Schema* schema = admissionregistration_schemas().front()->find("io.k8s.api.admissionregistration.v1.AuditAnnotation");
    Array all;
    each(policy.spec(), "auditAnnotations", [&](const Object& each, std::size_t) { all.push_back(schema->go_struct(each)); });
    errors.invalid_raw(path, to_json(all), "must not have more than " + std::to_string(kMostAnnotations) + " auditAnnotations");
  }
  std::set<std::string_view> keys;
  each(policy.spec(), "auditAnnotations", [&](const Object& annotation, std::size_t i) {
    check_annotation(policy, name, annotation, at(path, i), errors);
    const std::string_view key = get_string(annotation, "key");
    if (!keys.insert(key).second) errors.duplicate(at(at(path, i), "key"), key);
  });
}

class ValidatingPolicyStrategy : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override { check_policy(object, nullptr, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override { check_policy(object, &old, errors); }

 private:
  static void check_policy(const Object& object, const Object* old, FieldErrors& errors) {
    Policy policy(object, false, errors);
    policy.check_common(old);
    if (count_of(policy.spec(), "validations") == 0 && count_of(policy.spec(), "auditAnnotations") == 0) {
      constexpr std::string_view kNone = "validations or auditAnnotations must contain at least one item";
      errors.required("spec.validations", kNone);
      errors.required("spec.auditAnnotations", kNone);
    }
    each(policy.spec(), "validations",
         [&](const Object& validation, std::size_t i) { check_validation(policy, validation, at("spec.validations", i), errors); });
    check_annotations(policy, meta_name(object), errors);
  }
};

void check_mutation(Policy& policy, const Object& mutation, const std::string& path, FieldErrors& errors) {
  const std::string_view type = get_string(mutation, "patchType");
  if (type != "JSONPatch" && type != "ApplyConfiguration") return;
  const bool patch = type == "JSONPatch";
  const std::string used = patch ? "jsonPatch" : "applyConfiguration", other = patch ? "applyConfiguration" : "jsonPatch";
  const Object* change = get_object(mutation, used);
  if (change == nullptr) {
    errors.required(at(path, used), "must be specified when patchType is " + std::string(type));
  } else if (const std::string_view expression = trimmed(get_string(*change, "expression")); expression.empty()) {
    errors.required(at(at(path, used), "expression"));
  } else {
    policy.mutation(expression, patch ? "list(JSONPatch)" : "Object", at(at(path, used), "expression"));
  }
  if (has(mutation, other))
    errors.invalid(at(path, other), "{" + other + "}", "must not be specified when patchType is " + std::string(type));
}

class MutatingPolicyStrategy : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override { check_policy(object, nullptr, errors); }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override { check_policy(object, &old, errors); }

 private:
  static void check_policy(const Object& object, const Object* old, FieldErrors& errors) {
    Policy policy(object, true, errors);
    policy.check_common(old);
    check_mutating_operations(object_or_empty(policy.spec(), "matchConstraints"), "spec.matchConstraints", errors);
    each(policy.spec(), "mutations",
         [&](const Object& mutation, std::size_t i) { check_mutation(policy, mutation, at("spec.mutations", i), errors); });
  }
};

class BindingStrategy : public KindStrategy {
 public:
  BindingStrategy(KindFacts facts, bool mutating) : KindStrategy(std::move(facts)), mutating_(mutating) {}

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object* params = get_object(spec, "paramRef");
    if (params != nullptr && get_string(*params, "name").empty() && !has(*params, "selector")) {
      errors.required("spec.paramRef", "one of name or selector must be specified");
    }
    const Object& match = object_or_empty(spec, "matchResources");
    check_match(match, "spec.matchResources", errors);
    if (mutating_) return check_mutating_operations(match, "spec.matchResources", errors);
    const std::vector<std::string> actions = texts_of(spec, "validationActions");
    const auto does = [&](std::string_view action) { return std::find(actions.begin(), actions.end(), action) != actions.end(); };
    if (!does("Deny") || !does("Warn")) return;
    errors.invalid_raw("spec.validationActions", to_json(*find(spec, "validationActions")),
                       "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
                       "headers serves no purpose)");
  }

 private:
  const bool mutating_;
};

}  // namespace

MakeStrategy make_validating_policy(bool reserved) { return made_kind<ValidatingPolicyStrategy>(reserved); }
MakeStrategy make_validating_binding(bool reserved) { return made_kind<BindingStrategy>(reserved, false); }
MakeStrategy make_mutating_policy(bool reserved) { return made_kind<MutatingPolicyStrategy>(reserved); }
MakeStrategy make_mutating_binding(bool reserved) { return made_kind<BindingStrategy>(reserved, true); }

}  // namespace backplane::admissionregistration
