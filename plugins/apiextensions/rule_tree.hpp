// The rules (x-kubernetes-validations) of one version of a custom resource, compiled, in a tree that has the structure of the schema.
//
// The rules are compiled when the first object of the version is validated, and shared from then on.
// Thread-safety: immutable once made; LazyRules: any thread.
// Lifetime:      shared.  The tree does not refer to the schema.
// Errors:        a rule that does not compile makes every object invalid. Definitions are validated before they are stored, so this is
// rare.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "custom_schema.hpp"
#include "rule_compiler.hpp"

namespace backplane::apiextensions {

struct Rule {
  CompiledRule compiled;
  std::string words;    // `message`, or the rule itself: names the rule in error messages
  std::string message;  // empty: "failed rule: …"
  std::string reason;
  std::string field_path;  // "spec.size": relative to the rule's value
  std::string message_expression;
  bool optional_old = false;
};

// A part of a schema whose values are not compared by plain equality. There are two cases. The items of a list of type map are identified
// by keys, and their order is ignored. An open object may have members without a schema; an object with such a member is never equal to
// another one. The tree omits other parts, and everything below lists of other types.
struct KeyedPart {
  std::vector<std::string> keys;  // the keys of a list of type map
  bool open = false;              // an open object
  // For an open object all declared members; null: the member is compared by equality.
  std::map<std::string, std::unique_ptr<const KeyedPart>, std::less<>> properties;
  std::unique_ptr<const KeyedPart> items;
  std::unique_ptr<const KeyedPart> values;
  bool has_values = false;  // the schema has a type for further members
};
using KeyedPartRef = std::shared_ptr<const KeyedPart>;

struct RuleNode {
  std::string type;               // the type of the schema
  KeyedPartRef keyed;             // null: values are compared by equality
  std::vector<std::string> keys;  // the keys of items of a list of type map; empty: items have no identity
  std::vector<Rule> rules;
  std::map<std::string, std::unique_ptr<RuleNode>, std::less<>> properties;
  std::unique_ptr<RuleNode> items;
  std::unique_ptr<RuleNode> values;  // additionalProperties
};

bool has_rules(const Object& schema);
// Returns null if the schema has no rules.  `resource_root`: the schema is of a whole resource.
std::unique_ptr<const RuleNode> make_rules(const Object& schema, bool resource_root);

class LazyRules {
 public:
  LazyRules(std::shared_ptr<const SchemaSource> source, std::string version) : source_(std::move(source)), version_(std::move(version)) {}
  const RuleNode& get() const;

 private:
  const std::shared_ptr<const SchemaSource> source_;
  const std::string version_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const RuleNode> rules_;
};

}  // namespace backplane::apiextensions
