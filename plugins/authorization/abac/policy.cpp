#include "abac/policy.hpp"

#include <algorithm>
#include <limits>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/watched_file.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::authorization {
namespace {

constexpr std::string_view kVersion = "abac.authorization.kubernetes.io/v1beta1", kOldVersion = "abac.authorization.kubernetes.io/v0";
constexpr std::string_view kKind = "Policy";
constexpr std::string_view kAllAuthenticated = "system:authenticated";
constexpr std::size_t kLongestLine = 64 * 1024;  // the limit of Go's bufio.Scanner

std::string_view json_type(const Value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_number()) return "number";
  return value.is_array() ? "array" : "object";
}

// Reads members of one JSON object, and records the first member that has a wrong type.
class MemberReader {
 public:
  MemberReader(const Object& object, std::string owner) : object_(object), owner_(std::move(owner)) {}
  std::string text(std::string_view key) {
    const Value* value = find(object_, key);
    if (value == nullptr || value->is_null()) return {};
    if (!value->is_string()) note(key, *value, "string");
    return std::string(text_of(*value));
  }
  bool flag(std::string_view key) {
    const Value* value = find(object_, key);
    if (value == nullptr || value->is_null()) return false;
    if (!value->is_bool()) note(key, *value, "bool");
    return value->is_bool() && value->get_bool();
  }
  Status status() const { return problem_.empty() ? Status() : bad_request(problem_); }

 private:
  void note(std::string_view key, const Value& value, std::string_view wanted) {
    if (!problem_.empty()) return;
    problem_.append("json: cannot unmarshal ").append(json_type(value)).append(" into Go struct field ").append(owner_).append(".");
    problem_.append(key).append(" of type ").append(wanted);
  }

  const Object& object_;
  const std::string owner_;
  std::string problem_;
};

// A rule whose user or group is "*" applies to every authenticated user.
void widen(AbacRule& rule) {
  if (rule.user != "*" && rule.group != "*") return;
  rule.user.clear();
  rule.group = kAllAuthenticated;
}

Result<AbacRule> versioned_rule(const Object& policy) {
  MemberReader spec(object_or_empty(policy, "spec"), "PolicySpec.spec");
  AbacRule rule;
  rule.user = spec.text("user");
  rule.group = spec.text("group");
  rule.readonly = spec.flag("readonly");
  rule.api_group = spec.text("apiGroup");
  rule.resource = spec.text("resource");
  rule.ns = spec.text("namespace");
  rule.path = spec.text("nonResourcePath");
  if (Status status = spec.status(); !status.ok()) return status;
  widen(rule);
  return rule;
}

// Reads a rule in the unversioned format, in which absent members match everything.
Result<AbacRule> unversioned_rule(const Object& policy) {
  MemberReader members(policy, "Policy");
  AbacRule rule;
  rule.user = members.text("user");
  rule.group = members.text("group");
  rule.readonly = members.flag("readonly");
  rule.resource = members.text("resource");
  rule.ns = members.text("namespace");
  if (Status status = members.status(); !status.ok()) return status;
  if (rule.user.empty() && rule.group.empty()) rule.group = kAllAuthenticated;
  widen(rule);
  if (rule.ns.empty() && rule.resource.empty()) rule.path = "*";
  if (rule.ns.empty()) rule.ns = "*";
  if (rule.resource.empty()) rule.resource = "*";
  rule.api_group = "*";
  return rule;
}

std::string_view trimmed_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r\v\f");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

Status no_type_meta(const std::string& why) { return bad_request("couldn't get version/kind; json parse error: " + why); }

// A line that begins with a brace is JSON; any other line is YAML.
Result<Value> parse_line(std::string_view line) {
  if (!trimmed_line(line).starts_with('{')) return parse_yaml(line, {}, nullptr);
  auto tree = parse_json(line, {}, nullptr);
  if (!tree.ok()) return no_type_meta(tree.status().message());
  return tree;
}

// Returns apiVersion or kind; an empty text if the member is absent.
Result<std::string> type_meta(const Object& policy, std::string_view field) {
  const Value* value = find(policy, field);
  if (value == nullptr || value->is_null()) return std::string();
  if (value->is_string()) return std::string(value->get_string());
  return no_type_meta("json: cannot unmarshal " + std::string(json_type(*value)) + " into Go struct field ." + std::string(field) +
                      " of type string");
}

// An object that has no version, and no kind other than Policy, has the unversioned format, which equals v0.
Result<AbacRule> rule_of(const Object& policy, AbacPolicy& all) {
  auto version = type_meta(policy, "apiVersion");
  if (!version.ok()) return std::move(version).status();
  auto kind = type_meta(policy, "kind");
  if (!kind.ok()) return std::move(kind).status();
  if (std::count(version->begin(), version->end(), '/') > 1) return bad_request("unexpected GroupVersion string: " + *version);
  if (*kind == kKind && *version == kVersion) return versioned_rule(policy);
  if (*kind == kKind && *version == kOldVersion) return unversioned_rule(policy);
  if (!version->empty() || (!kind->empty() && *kind != kKind)) {
    return bad_request("no kind " + backplane::quoted(kind->empty() ? kKind : *kind) + " is registered for version " +
                       backplane::quoted(version->empty() ? kOldVersion : *version) + " in scheme \"pkg/runtime/scheme.go:111\"");
  }
  ++all.unversioned;
  return unversioned_rule(policy);
}

Result<AbacRule> parse_rule(std::string_view line, AbacPolicy& policy) {
  auto tree = parse_line(line);
  if (!tree.ok()) return std::move(tree).status();
  if (tree->is_null()) return rule_of(Object(), policy);
  if (tree->is_object()) return rule_of(tree->get_object(), policy);
  return no_type_meta("json: cannot unmarshal " + std::string(json_type(*tree)) +
                      " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                      "\"json:\\\"kind,omitempty\\\"\" }");
}

}  // namespace

Result<AbacPolicy> parse_abac_policy(std::string_view text, const std::string& file) {
  AbacPolicy policy;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() >= kLongestLine) return bad_request("error reading policy file " + file + ": bufio.Scanner: token too long");
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trimmed_line(line);
    if (content.empty() || content.front() == '#') continue;
    auto rule = parse_rule(line, policy);
    if (!rule.ok()) {
      return bad_request("error reading policy file " + file + ", line " + std::to_string(number) + ": " + std::string(line) + ": " +
                         rule.status().message());
    }
    policy.rules.push_back(std::move(*rule));
  }
  return policy;
}

Result<AbacPolicy> read_abac_policy(const std::string& file) {
  auto text = kit::read_bounded_file(file, std::numeric_limits<std::size_t>::max());
  if (!text.ok()) return std::move(text).status();
  return parse_abac_policy(*text, file);
}

}  // namespace backplane::authorization
