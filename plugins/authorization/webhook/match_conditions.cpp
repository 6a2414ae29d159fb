#include "webhook/match_conditions.hpp"

#include <limits>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/cel_policy.hpp"

namespace backplane::authorization {
namespace {

using Members = std::vector<std::pair<std::string, cel::TypeRef>>;

Members text_members(std::initializer_list<const char*> names) {
  Members out;
  for (const char* name : names) out.emplace_back(name, cel::named_type("string"));
  return out;
}

cel::TypeRef selector_type(const char* name) {
  Members requirement = text_members({"key", "operator"});
  requirement.emplace_back("values", cel::named_type("list(string)"));
  Members members = text_members({"rawSelector"});
  members.emplace_back("requirements", cel::list_type(cel::object_type("kubernetes.SelectorRequirement", std::move(requirement))));
  return cel::object_type(name, std::move(members));
}

cel::TypeRef request_type() {
  Members resource = text_members({"namespace", "verb", "group", "version", "resource", "subresource", "name"});
  resource.emplace_back("fieldSelector", selector_type("kubernetes.FieldSelectorAttributes"));
  resource.emplace_back("labelSelector", selector_type("kubernetes.LabelSelectorAttributes"));
  Members spec = text_members({"user", "uid"});
  spec.emplace_back("resourceAttributes", cel::object_type("kubernetes.ResourceAttributes", std::move(resource)));
  spec.emplace_back("nonResourceAttributes", cel::object_type("kubernetes.NonResourceAttributes", text_members({"path", "verb"})));
  spec.emplace_back("groups", cel::named_type("list(string)"));
  spec.emplace_back("extra", cel::named_type("map(string, list(string))"));
  return cel::object_type("kubernetes.SubjectAccessReviewSpec", std::move(spec));
}

const cel::Environment& environment() {
  static const std::shared_ptr<const cel::Environment> kEnvironment =
      cel::Environment::make({.stored = true, .variables = {{"request", request_type(), "kubernetes.SubjectAccessReviewSpec"}}});
  return *kEnvironment;
}

std::shared_ptr<const cel::Program> compile_condition(const std::string& expression, const std::string& field, FieldErrors& errors) {
  cel::Compiled compiled = environment().compile(expression);
  if (compiled.program == nullptr) {
    errors.invalid(field, expression, "compilation failed: " + compiled.problems);
    return nullptr;
  }
  if (std::string problem = cel::result_problem(*compiled.program, {"bool"}); !problem.empty()) {
    errors.invalid(field, expression, problem);
    return nullptr;
  }
  return std::move(compiled.program);
}

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos; }

}  // namespace

std::shared_ptr<const MatchConditions> MatchConditions::compile(const std::vector<std::string>& expressions, const std::string& path,
                                                                FieldErrors& errors) {
  const std::string list = at(path, "matchConditions");
  if (expressions.size() > kMost) {
    errors.too_many(list, static_cast<long long>(expressions.size()), kMost);
    return nullptr;
  }
  auto out = std::make_shared<MatchConditions>();
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string& expression = expressions[i];
    const std::string field = at(at(list, i), "expression");
    if (is_blank(expression)) {
      errors.required(field);
    } else if (!seen.insert(expression).second) {
      errors.duplicate(field, expression);
    } else if (auto program = compile_condition(expression, field, errors)) {
      out->programs_.push_back(std::move(program));
      // The name of the member occurs in the text, whatever the syntax of the access.
      out->uses_selectors_ = out->uses_selectors_ || expression.find("Selector") != std::string::npos;
    }
  }
  if (out->programs_.empty()) return nullptr;
  return out;
}

MatchConditions::Verdict MatchConditions::evaluate(const Value& request) const {
  const cel::Binding variable{"request", &request};
  std::vector<std::string> problems;
  for (const auto& program : programs_) {
    cel::Budget budget;
    budget.left = std::numeric_limits<std::uint64_t>::max();
    const cel::Outcome outcome = cel::run(*program, {&variable, 1}, budget);
    if (outcome.end != cel::Outcome::End::kValue) {
      problems.push_back("cel evaluation error: expression '" + std::string(program->source()) + "' resulted in error: " + outcome.message);
    } else if (!outcome.value.is_bool() || !outcome.value.get_bool()) {
      return {false, {}};
    }
  }
  if (problems.empty()) return {true, {}};
  std::string text = problems.front();
  for (std::size_t i = 1; i < problems.size(); ++i) text = (i == 1 ? "[" + text : text) + ", " + problems[i];
  return {false, Status(Reason::kInternalError, problems.size() == 1 ? text : text + "]")};
}

}  // namespace backplane::authorization
