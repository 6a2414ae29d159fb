// Reads x-backplane-rules, and the keywords of defaults and gates.
#include "schema/rules.hpp"

#include <algorithm>
#include <limits>

#include "backplane/core/json_access.hpp"
#include "schema/compiler.hpp"
#include "schema/rule_words.hpp"
#include "schema/scalars.hpp"

namespace backplane::schema {
namespace {

struct TextWord {
  std::string_view word;
  std::string Rules::*text;
};
constexpr TextWord kTextWords[] = {
    {"enumText", &Rules::allowed_text},
    {"rangeText", &Rules::range_text},
    {"uniqueText", &Rules::unique_text},
    {"forbidden", &Rules::forbidden},
    {"refused", &Rules::refused},
    {"once", &Rules::once},
    {"stays", &Rules::stays},
    {"rising", &Rules::rising},
    {"named", &Rules::named},
    {"path", &Rules::path},
    {"missing", &Rules::missing},
    {"perFamily", &Rules::per_family},
    {"single", &Rules::single},
    {"lengthText", &Rules::length_text},
    {"uniqueAt", &Rules::unique_at},
    {"wrong", &Rules::wrong},
    {"maxItemsText", &Rules::max_items_text},
    {"nonEmpty", &Rules::non_empty},
    {"objectText", &Rules::json_object_text},
    {"selectorText", &Rules::selector_text},
};
struct FlagWord {
  std::string_view word;
  bool Rules::*flag;
};
constexpr FlagWord kFlagWords[] = {
    {"both", &Rules::goes_on},       {"onCreate", &Rules::on_create},
    {"opaque", &Rules::opaque},      {"wholeList", &Rules::whole_list},
    {"holder", &Rules::holder},      {"whole", &Rules::whole},
    {"again", &Rules::again},        {"keeps", &Rules::keeps},
    {"asGo", &Rules::as_go},         {"whenChanged", &Rules::when_changed},
    {"emptyToo", &Rules::empty_too}, {"orQualified", &Rules::or_qualified},
    {"lowered", &Rules::lowered},    {"joined", &Rules::joined},
    {"unquoted", &Rules::unquoted},  {"asSet", &Rules::as_set},
    {"counted", &Rules::counted},    {"asMembers", &Rules::as_members},
    {"instead", &Rules::instead},
};
struct ConditionWord {
  std::string_view word;
  Conditions Rules::*conditions;
};
constexpr ConditionWord kConditionWords[] = {
    {"when", &Rules::when},
    {"unless", &Rules::unless},
    {"whenWas", &Rules::when_was},
    {"unlessWas", &Rules::unless_was},
    {"unlessItem", &Rules::unless_item},
};
struct NumberWord {
  std::string_view word;
  std::optional<std::int64_t> Rules::*number;
};
constexpr NumberWord kNumberWords[] = {{"minimum", &Rules::minimum},      {"maximum", &Rules::maximum},
                                       {"maxLength", &Rules::max_length}, {"maxPercent", &Rules::max_percent},
                                       {"maxItems", &Rules::max_items},   {"maxEntries", &Rules::max_entries},
                                       {"maxBytes", &Rules::max_bytes}};

bool read_format(std::string_view word, Rules& out) {
  if (word == "port") return out.number = NumberFormat::kPort, true;
  if (word == "portOrName") return out.number = NumberFormat::kPortOrName, true;
  if (word == "intOrPercent") return out.number = NumberFormat::kIntOrPercent, true;
  if (word == "labels") return out.labels = true;
  if (word == "domainPath") return out.domain_path = true;
  if (word == "labelSelector") return out.label_selector = true;
  if (word == "jsonObject") return out.json_object = true;
  if (word == "conditions") return out.conditions = true;
  if (word == "notNegative") return out.not_negative = true;
  if (word == "positive") return out.positive = true;
  if (word == "dnsName") return out.format = is_dns1123_subdomain, out.trims_dot = true;
  out.format = format_named(word);
  return out.format != nullptr;
}

// Returns null if the value is invalid.
std::unique_ptr<Fixed> fixed_of(const Value& value) {
  const Object* words = value.if_object();
  if (words == nullptr || get_string(*words, "text").empty()) return nullptr;
  auto out = std::make_unique<Fixed>();
  out->text = get_string(*words, "text");
  out->as = get_string(*words, "as");
  const Array* but = get_array(*words, "but");
  for (const Value& each : but != nullptr ? *but : Array()) {
    Fixed::Change& change = out->may.emplace_back();
    if (each.is_string()) change.member = member_path(each.get_string());
    if (!each.is_object()) continue;
    change.member = member_path(get_string(each.get_object(), "member"));
    change.shows_new = get_string(each.get_object(), "shows") == "new";
    if (const Value* when = find(each.get_object(), "when")) change.when = conditions_of(*when);
    if (const Value* was = find(each.get_object(), "whenWas")) change.when_was = conditions_of(*was);
  }
  return out;
}

// A text for lists that have "*" and other items, or {"item", "forbidden"}.
bool read_alone(const Value& value, Rules& out) {
  if (const Object* words = value.if_object()) {
    out.alone_item = get_string(*words, "item");
    out.alone = get_string(*words, "forbidden");
    out.alone_forbidden = true;
    return !out.alone_item.empty() && !out.alone.empty();
  }
  return !(out.alone = string_or_empty(value)).empty();
}

// One keyword of a rule; false if it is unknown or invalid.
bool read_word(std::string_view word, const Value& value, const Object& schema, Rules& out) {
  const bool applies = value.is_string() || (value.is_bool() && value.get_bool());
  if (word == "required") {
    out.required_text = string_or_empty(value);
    return out.required = applies;
  }
  for (const TextWord& row : kTextWords) {
    if (row.word == word) return !(out.*row.text = string_or_empty(value)).empty();
  }
  for (const FlagWord& row : kFlagWords) {
    if (row.word == word) return out.*row.flag = applies;
  }
  for (const ConditionWord& row : kConditionWords) {
    if (row.word == word) return !(out.*row.conditions = conditions_of(value)).empty();
  }
  for (const NumberWord& row : kNumberWords) {
    if (row.word == word) return value.is_int64() ? (out.*row.number = value.get_int64(), true) : false;
  }
  if (word == "optional") return value.is_bool() ? (out.optional = value.get_bool(), true) : false;
  if (word == "enum") {
    const Value* published = find(schema, "enum");
    if (published == nullptr && get_object(schema, "items") != nullptr) published = find(*get_object(schema, "items"), "enum");
    out.allowed = value.is_array() ? string_items(value) : published != nullptr ? string_items(*published) : std::vector<std::string>();
    return !out.allowed.empty();
  }
  if (word == "enumNames") return !(out.allowed_names = string_items(value)).empty();
  if (word == "alone") return read_alone(value, out);
  if (word == "format") return value.is_string() && read_format(value.get_string(), out);
  if (word == "fixed") return (out.fixed = fixed_of(value)) != nullptr;
  if (word == "entries") return !(out.entries = string_items(value)).empty();
  if (word == "immutable") {
    out.immutable_text = value.is_string() ? string_or_empty(value) : "field is immutable";
    return out.immutable = applies;
  }
  if (word == "unique") {
    out.unique_items = value.is_bool() && value.get_bool();
    if (value.is_string()) out.unique.push_back(string_or_empty(value));
    if (value.is_array()) out.unique = string_items(value);
    return out.unique_items || !out.unique.empty();
  }
  return false;
}

}  // namespace

void Compiler::read_rules(const Object& words, const Object& schema, const std::string& path, Rules& out) {
  const auto read_inner = [&](const Value& inner) {
    auto rules = std::make_unique<Rules>();
    read_rule_list(inner, Object(), path, *rules);
    return rules;
  };
  for (const auto& [key, value] : words) {
    const std::string_view word(key);
    if (word == "keys") {
      out.keys = read_inner(value);
    } else if (word == "items") {
      out.items = read_inner(value);
    } else if (word == "members" && value.is_object()) {
      for (const auto& [name, rules] : value.get_object()) out.members.emplace_back(std::string(name), read_inner(rules));
    } else if (!read_word(word, value, schema, out)) {
      fail(path + ".x-backplane-rules", "\"" + std::string(word) + "\" is no rule");
    }
  }
}

void Compiler::read_rule_list(const Value& value, const Object& schema, const std::string& path, Rules& out) {
  if (value.is_object()) return read_rules(value.get_object(), schema, path, out);
  Rules* last = nullptr;
  for (const Value& words : value.is_array() ? value.get_array() : Array()) {
    if (last != nullptr) last->next = std::make_unique<Rules>();
    last = last != nullptr ? last->next.get() : &out;
    if (words.is_object()) read_rules(words.get_object(), schema, path, *last);
  }
}

const Rules* Compiler::rules_of(const Object& schema, const std::string& path) {
  const Value* found = find(schema, "x-backplane-rules");
  if (found == nullptr) return nullptr;
  Rules& out = state_.rules.emplace_back();
  read_rule_list(*found, schema, path, out);
  return &out;
}

const ConditionalDefault* Compiler::conditional_default_of(const Object& schema, const std::string& path) {
  const Value* when = find(schema, "x-backplane-default-when");
  const std::string_view from = get_string(schema, "x-backplane-default-from");
  const bool fills = get_bool(schema, "x-backplane-default-fills").value_or(false);
  if (when == nullptr && from.empty() && !fills) return nullptr;
  ConditionalDefault out{when != nullptr ? conditions_of(*when) : Conditions(), std::string(from), fills};
  if (when != nullptr && out.when.empty()) fail(path + ".x-backplane-default-when", "no condition");
  if (fills && get_object(schema, "x-backplane-default") == nullptr) fail(path + ".x-backplane-default-fills", "the default is no struct");
  return &state_.conditional_defaults.emplace_back(std::move(out));
}

const Derived* Compiler::derived_of(const Object& schema) {
  constexpr std::string_view kPrefix = "x-backplane-";
  Derived out;
  bool any = false;
  const auto word = [&](std::string_view name) {
    const Value* value = find(schema, std::string(kPrefix) + std::string(name));
    any = any || value != nullptr;
    return value;
  };
  if (const Value* value = word("drop-when")) out.dropped = conditions_of(*value);
  if (const Value* value = word("first-of")) out.list = string_or_empty(*value);
  if (const Value* value = word("into")) out.into = string_or_empty(*value);
  if (const Value* value = word("fill-from")) out.from = string_items(*value);
  if (const Value* value = word("fill-when")) out.when = conditions_of(*value);
  if (const Value* value = word("items-say"); value != nullptr && value->is_object()) {
    for (const auto& [name, item_value] : value->get_object()) out.item_keywords.emplace_back(name, Value(item_value, json::storage_ptr()));
  }
  if (const Value* value = word("round")) out.thousandths = string_or_empty(*value) == "thousandths";
  return any ? &state_.derived.emplace_back(std::move(out)) : nullptr;
}

const Gated* Compiler::gated_of(const Object& schema, const std::string& path) {
  const Value* found = find(schema, "x-backplane-gate");
  if (found == nullptr) return nullptr;
  Gated out;
  const auto texts = [](const Value& value) {
    return value.is_array() ? string_items(value) : std::vector<std::string>{std::string(string_or_empty(value))};
  };
  if (!found->is_object()) {
    out.gates = texts(*found);
    return &state_.gated.emplace_back(std::move(out));
  }
  for (const auto& [key, value] : found->get_object()) {
    if (key == "gate") {
      out.gates = texts(value);
    } else if (key == "together" && value.is_bool()) {
      out.together = value.get_bool();
    } else if (key == "holder" && value.is_bool()) {
      out.holder = value.get_bool();
    } else if (key == "having") {
      out.having = string_or_empty(value);
    } else if (key == "also") {
      out.also = texts(value);
    } else if (key == "except" && value.is_array()) {
      for (const Value& each : value.get_array()) out.except.emplace_back(each, json::storage_ptr());
    } else if (key == "default") {
      out.default_value = &state_.defaults.emplace_back(value, json::storage_ptr());
    } else {
      fail(path + ".x-backplane-gate", "\"" + std::string(key) + "\" is not a member of x-backplane-gate");
    }
  }
  if (out.gates.empty()) fail(path + ".x-backplane-gate", "no gate");
  return &state_.gated.emplace_back(std::move(out));
}

}  // namespace backplane::schema
