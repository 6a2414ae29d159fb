#include "rules.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/webhook_rules.hpp"
#include "backplane/types/names.hpp"

namespace backplane::admissionregistration {
namespace {

using namespace kit;

constexpr std::size_t kMostConditions = 64;

// Refuses resources that a wildcard of the same list includes.
class Resources {
 public:
  Resources(std::string path, FieldErrors& errors) : path_(std::move(path)), errors_(errors) {}

  void add(std::string_view text, std::size_t i) {
    if (text.empty()) return errors_.required(at(path_, i));
    all_ = all_ || text == "*/*";
    any_ = any_ || text == "*";
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) {
      plain_ = text != "*";
      return;
    }
    const std::string name(text.substr(0, slash)), sub(text.substr(slash + 1));
    const auto refuse = [&](const std::string& wide) {
      errors_.invalid(at(path_, i), text, "if '" + wide + "' is present, must not specify " + std::string(text));
    };
    if (with_any_sub_.count(name) > 0) refuse(name + "/*");
    if (of_any_.count(sub) > 0) refuse("*/" + sub);
    if (sub == "*") with_any_sub_.insert(name);
    if (name == "*") of_any_.insert(sub);
  }

  void finish(const Object& rule) {
    const auto refuse = [&](std::string_view text) { errors_.invalid_raw(path_, to_json(*find(rule, "resources")), text); };
    if (all_ && count_of(rule, "resources") > 1) refuse("if '*/*' is present, must not specify other resources");
    if (any_ && plain_) refuse("if '*' is present, must not specify other resources without subresources");
  }

 private:
  const std::string path_;
  FieldErrors& errors_;
  std::set<std::string> with_any_sub_, of_any_;
  bool all_ = false, any_ = false;
  bool plain_ = false;  // the last resource without a subresource is not "*"
};

}  // namespace

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const auto begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

void check_operation_rules(const Object& holder, std::string_view key, const std::string& path, FieldErrors& errors) {
  each(holder, key, [&](const Object& rule, std::size_t i) {
    const std::string here = at(path, i);
    each_text(rule, "apiVersions", [&](std::string_view version, std::size_t n) {
      if (version.empty()) errors.required(at(at(here, "apiVersions"), n));
    });
    Resources resources(at(here, "resources"), errors);
    each_text(rule, "resources", [&](std::string_view resource, std::size_t n) { resources.add(resource, n); });
    resources.finish(rule);
  });
}

void check_mutating_operations(const Object& match, const std::string& path, FieldErrors& errors) {
  static const std::vector<std::string> kOperations = {"*", "CONNECT", "CREATE", "UPDATE"};
  each(match, "resourceRules", [&](const Object& rule, std::size_t) {
    each_text(rule, "operations", [&](std::string_view operation, std::size_t) {
      if (std::find(kOperations.begin(), kOperations.end(), operation) != kOperations.end()) return;
      errors.not_supported(at(path, "resourceRules.operations"), operation, kOperations);
    });
  });
}

std::shared_ptr<const cel::Program> check_expression(std::string_view expression, std::string_view shown, const cel::PolicyNames& names,
                                                     std::initializer_list<std::string_view> types, const std::string& path,
                                                     FieldErrors& errors) {
  cel::Compiled compiled = cel::policy_environment(names)->compile(expression);
  if (compiled.program == nullptr && compiled.problems.starts_with("program instantiation failed")) {
    errors.internal(path, compiled.problems);
    return nullptr;
  }
  const std::string problem =
      compiled.program == nullptr ? "compilation failed: " + compiled.problems : cel::result_problem(*compiled.program, types);
  if (!problem.empty()) errors.invalid(path, shown, problem);
  return problem.empty() ? std::move(compiled.program) : nullptr;
}

void check_match_conditions(const Object& holder, const cel::PolicyNames& names, const std::string& path, FieldErrors& errors) {
  const std::size_t count = count_of(holder, "matchConditions");
  if (count > kMostConditions) errors.too_many(path, static_cast<long long>(count), static_cast<long long>(kMostConditions));
  std::set<std::string_view> seen;
  each(holder, "matchConditions", [&](const Object& condition, std::size_t i) {
    const std::string here = at(path, i);
    const std::string_view expression = trimmed(get_string(condition, "expression")), name = get_string(condition, "name");
    if (expression.empty()) {
      errors.required(at(here, "expression"));
    } else {
      check_expression(expression, expression, names, {"bool"}, at(here, "expression"), errors);
    }
    if (name.empty()) return errors.required(at(here, "name"));
    for (const std::string& problem : is_qualified_name(name)) errors.invalid(at(here, "name"), name, problem);
    if (!seen.insert(name).second) errors.duplicate(at(here, "name"), name);
  });
}

void check_client_config(const Object& client, const std::string& path, FieldErrors& errors) {
  const Object* service = get_object(client, "service");
  if (has(client, "url") == (service != nullptr)) return errors.required(path, "exactly one of url or service is required");
  if (service != nullptr) return check_webhook_service(*service, at(path, "service"), errors);
  check_webhook_url(get_string(client, "url"), at(path, "url"), errors);
}

std::string static_name_problem(std::string_view name) {
  constexpr std::string_view kSuffix = ".static.k8s.io";
  if (!name.ends_with(kSuffix)) return {};
  return "names ending with " + quoted(kSuffix) +
         " are reserved for static manifest-based configurations and cannot be managed via the API";
}

void check_static_name(const Object& object, FieldErrors& errors) {
  const std::string problem = static_name_problem(meta_name(object));
  if (!problem.empty()) errors.invalid("metadata.name", meta_name(object), problem);
}

}  // namespace backplane::admissionregistration
