#include "rule_tree.hpp"

#include "definition.hpp"
#include "field_path.hpp"
#include "rule_metrics.hpp"
#include "schema_rules.hpp"

namespace backplane::apiextensions {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

bool is_embedded(const Object& schema) { return get_bool(schema, "x-kubernetes-embedded-resource").value_or(false); }

Rule rule_of(const Object& rule, const Object& schema, RuleCompiler& compiler) {
  Rule out;
  out.compiled = compiler.compile(rule, true, true);
  out.message = trimmed(get_string(rule, "message"));
  out.words = get_string(rule, "message").empty() ? trimmed(get_string(rule, "rule")) : out.message;
  out.reason = get_string(rule, "reason");
  out.message_expression = get_string(rule, "messageExpression");
  out.optional_old = get_bool(rule, "optionalOldSelf").value_or(false);
  const std::string_view path = get_string(rule, "fieldPath");
  if (path.empty()) return out;
  FieldPath followed = follow_path(path, schema, true);
  if (followed.problem.empty()) out.field_path = std::move(followed.text);
  return out;
}

std::vector<std::string> keys_of(const Object& schema) {
  return get_string(schema, "x-kubernetes-list-type") == "map" ? texts(schema, "x-kubernetes-list-map-keys") : std::vector<std::string>();
}

bool allows_any(const Object& schema) {
  const Value* values = find(schema, "additionalProperties");
  return get_bool(schema, "x-kubernetes-preserve-unknown-fields").value_or(false) ||
         (values != nullptr && values->is_bool() && values->get_bool());
}

// Returns null if the whole part is compared by equality. `open`: the part may have members without a schema (a resource, its metadata).
std::unique_ptr<const KeyedPart> keyed_part(const Object& schema, bool resource, bool open) {
  auto part = std::make_unique<KeyedPart>();
  part->keys = keys_of(schema);
  part->open = open || resource || allows_any(schema);
  const Object* items = get_object(schema, "items");
  if (items != nullptr && !part->keys.empty()) part->items = keyed_part(*items, is_embedded(*items), false);
  if (const Object* values = get_object(schema, "additionalProperties")) {
    part->has_values = true;
    part->values = keyed_part(*values, is_embedded(*values), false);
  }
  for (const auto& [key, property] : object_or_empty(schema, "properties")) {
    if (!property.is_object()) continue;
    auto below = keyed_part(property.get_object(), is_embedded(property.get_object()), resource && key == "metadata");
    if (below != nullptr || part->open) part->properties.emplace(std::string(key.data(), key.size()), std::move(below));
  }
  if (part->keys.empty() && !part->open && part->values == nullptr && part->properties.empty()) return nullptr;
  return part;
}

// Points to a part of `whole`, and holds `whole`.
KeyedPartRef below(const KeyedPartRef& whole, const std::unique_ptr<const KeyedPart>& part) {
  return part == nullptr ? nullptr : KeyedPartRef(whole, part.get());
}
KeyedPartRef property_below(const KeyedPartRef& whole, const std::string& name) {
  if (whole == nullptr) return nullptr;
  const auto found = whole->properties.find(name);
  return found == whole->properties.end() ? nullptr : below(whole, found->second);
}

void compile_rules(const Object& schema, const cel::TypeRef& type, RuleNode& node) {
  const RuleTimer timer(rule_compilations());
  RuleCompiler compiler(type);
  for (const Object* rule : objects(schema, "x-kubernetes-validations")) {
    if (type != nullptr) {
      node.rules.push_back(rule_of(*rule, schema, compiler));
      continue;
    }
    node.rules.emplace_back().compiled.problem = "failed to convert to declType for CEL validation rules";
  }
}

// `type`: the declared type of the part; null: expressions cannot use the part, and its rules do not run.
std::unique_ptr<RuleNode> node_of(const Object& schema, const cel::TypeRef& type, const KeyedPartRef& keyed) {
  if (!has_rules(schema)) return nullptr;
  auto node = std::make_unique<RuleNode>();
  node->keyed = keyed;
  node->type = get_string(schema, "type");
  node->keys = keys_of(schema);
  compile_rules(schema, type, *node);
  const cel::TypeRef inner = type != nullptr ? cel::items_of(type) : nullptr;
  if (const Object* items = get_object(schema, "items")) node->items = node_of(*items, inner, keyed ? below(keyed, keyed->items) : nullptr);
  if (const Object* values = get_object(schema, "additionalProperties"))
    node->values = node_of(*values, inner, keyed ? below(keyed, keyed->values) : nullptr);
  for (const auto& [key, property] : object_or_empty(schema, "properties")) {
    if (!property.is_object() || type == nullptr) continue;
    const std::string name(key.data(), key.size());
    // Members whose name is no CEL identifier are declared separately; members without a type are skipped.
    const cel::TypeRef declared =
        cel::escape(name).empty() ? cel::declare(property.get_object(), is_embedded(property.get_object())) : cel::property_of(type, name);
    if (declared == nullptr) continue;
    if (auto inside = node_of(property.get_object(), declared, property_below(keyed, name)))
      node->properties.emplace(name, std::move(inside));
  }
  return node;
}

}  // namespace

bool has_rules(const Object& schema) {
  return any_schema(schema, [](const Object& part) {
    const Array* rules = get_array(part, "x-kubernetes-validations");
    return rules != nullptr && !rules->empty();
  });
}

std::unique_ptr<const RuleNode> make_rules(const Object& schema, bool resource_root) {
  if (!has_rules(schema)) return nullptr;
  return node_of(schema, cel::declare(schema, resource_root), keyed_part(schema, resource_root, false));
}

const RuleNode& LazyRules::get() const {
  std::call_once(made_, [this] {
    const SharedBytes text = source_->schema(version_);
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    const Value schema = json::parse(text.view(), json::make_shared_resource<json::monotonic_resource>(), options);
    rules_ = make_rules(schema.get_object(), true);
    if (rules_ == nullptr) rules_ = std::make_unique<const RuleNode>();
  });
  return *rules_;
}

}  // namespace backplane::apiextensions
