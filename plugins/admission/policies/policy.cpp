#include "policies/policy.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "common/label_selectors.hpp"
#include "policies/expression_compiler.hpp"

namespace backplane::admission::policies {
namespace {

Reason validation_reason(std::string_view name) noexcept {
  for (const Reason each : {Reason::kUnauthorized, Reason::kForbidden, Reason::kRequestEntityTooLarge}) {
    if (name == reason_name(each)) return each;
  }
  return Reason::kInvalid;
}

std::string expression_in(const Object& holder, std::string_view key = "expression") { return std::string(get_string(holder, key)); }

void compile_validations(const Object& spec, ExpressionCompiler& compiler, Policy& out) {
  each(spec, "validations", [&](const Object& each, std::size_t) {
    Validation validation;
    validation.expression = compiler.compile(expression_in(each), {"bool"});
    const std::string message = expression_in(each, "messageExpression");
    if (!message.empty()) validation.message = compiler.compile(message, {"string"}, {.authorizer = false});
    validation.text = trimmed_text(get_string(each, "message"));
    validation.reason = validation_reason(get_string(each, "reason"));
    out.validations.push_back(std::move(validation));
  });
  each(spec, "auditAnnotations", [&](const Object& each, std::size_t) {
    out.annotations.push_back({expression_in(each, "key"), compiler.compile(expression_in(each, "valueExpression"), {"string", "null"})});
  });
}

void compile_mutations(const Object& spec, ExpressionCompiler& compiler, Policy& out) {
  each(spec, "mutations", [&](const Object& each, std::size_t) {
    Mutation mutation;
    mutation.json_patch = get_string(each, "patchType") == "JSONPatch";
    const Object* change = get_object(each, mutation.json_patch ? "jsonPatch" : "applyConfiguration");
    if (change == nullptr) return;
    mutation.expression = mutation.json_patch ? compiler.compile(expression_in(*change), {"list(JSONPatch)"}, {.patches = true})
                                              : compiler.compile(expression_in(*change), {"Object"}, {.patches = true});
    // The path in a JSON patch is a text, so the source of the expression is searched for managedFields.
    out.uses.managed_fields = out.uses.managed_fields || mutation.expression.source.find("managedFields") != std::string::npos;
    out.mutations.push_back(std::move(mutation));
  });
}

void add_uses(const cel::Program* program, UsedValues& out) {
  if (program == nullptr) return;
  out.request = out.request || program->uses("request");
  out.namespace_object = out.namespace_object || program->uses("namespaceObject");
  out.authorizer = out.authorizer || program->uses("authorizer") || program->uses("authorizer.requestResource");
  out.managed_fields = out.managed_fields || cel::may_read(*program, {"object", "oldObject"}, {"metadata", "managedFields"});
}

void add_all_uses(Policy& policy) {
  for (const auto& each : policy.variables) add_uses(each.program.get(), policy.uses);
  for (const auto& each : policy.conditions) add_uses(each.program.get(), policy.uses);
  for (const auto& each : policy.annotations) add_uses(each.value.program.get(), policy.uses);
  for (const auto& each : policy.mutations) add_uses(each.expression.program.get(), policy.uses);
  for (const auto& each : policy.validations) {
    add_uses(each.expression.program.get(), policy.uses);
    add_uses(each.message.program.get(), policy.uses);
  }
}

ParamRef read_param_ref(const Object& ref) {
  ParamRef out;
  out.name = get_string(ref, "name");
  out.ns = get_string(ref, "namespace");
  out.must_exist = get_string(ref, "parameterNotFoundAction") == "Deny";
  if (const Object* selector = get_object(ref, "selector")) {
    auto parsed = label_selector_of(*selector);
    if (parsed.ok()) {
      out.selector = std::move(*parsed);
    } else {
      out.problem = parsed.status().message();
    }
  }
  return out;
}

}  // namespace

std::string_view trimmed_text(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const auto begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::shared_ptr<const Policy> compile_policy(const Object& policy, PolicyType type) {
  const Object& spec = object_or_empty(policy, "spec");
  auto out = std::make_shared<Policy>();
  out->name = meta_name(policy);
  out->version = meta_text(policy, "resourceVersion");
  out->ignores_failure = get_string(spec, "failurePolicy") == "Ignore";
  if (const Object* match = get_object(spec, "matchConstraints")) {
    out->match = read_match_resources(*match);
  } else {
    out->match.problem = "policy contained no match constraints, a required field";
  }
  if (const Object* kind = get_object(spec, "paramKind")) {
    out->param_kind = ParamKind{std::string(get_string(*kind, "apiVersion")), std::string(get_string(*kind, "kind"))};
  }
  ExpressionCompiler compiler(out->param_kind.has_value());
  each(spec, "variables", [&](const Object& each, std::size_t) { compiler.add_variable(get_string(each, "name"), expression_in(each)); });
  each(spec, "matchConditions",
       [&](const Object& each, std::size_t) { out->conditions.push_back(compiler.compile(expression_in(each), {"bool"})); });
  if (type == PolicyType::kValidating) compile_validations(spec, compiler, *out);
  if (type == PolicyType::kMutating) compile_mutations(spec, compiler, *out);
  out->reinvocable = get_string(spec, "reinvocationPolicy") == "IfNeeded";
  out->variables = compiler.take_variables();
  add_all_uses(*out);
  return out;
}

std::shared_ptr<const Binding> read_binding(const Object& binding) {
  const Object& spec = object_or_empty(binding, "spec");
  auto out = std::make_shared<Binding>();
  out->name = meta_name(binding);
  out->policy = get_string(spec, "policyName");
  if (const Object* match = get_object(spec, "matchResources")) out->match = read_match_resources(*match);
  if (const Object* ref = get_object(spec, "paramRef")) out->params = read_param_ref(*ref);
  out->actions = texts_of(spec, "validationActions");
  for (const std::string& action : out->actions) {
    out->denies = out->denies || action == "Deny";
    out->warns = out->warns || action == "Warn";
    out->audits = out->audits || action == "Audit";
  }
  return out;
}

}  // namespace backplane::admission::policies
