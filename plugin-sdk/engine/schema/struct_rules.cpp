// Reads x-backplane-struct-rules.
#include <algorithm>
#include <limits>

#include "backplane/core/json_access.hpp"
#include "schema/compiler.hpp"
#include "schema/rule_words.hpp"

namespace backplane::schema {
namespace {

std::optional<StructRules::Limit::Side> side_of(std::string_view word) {
  using Side = StructRules::Limit::Side;
  if (word == "notAbove") return Side::kNotAbove;
  if (word == "notBelow") return Side::kNotBelow;
  if (word == "above") return Side::kAbove;
  return std::nullopt;
}

StructRules::Order order_of(const Object& words) {
  StructRules::Order out;
  out.low = get_string(words, "low");
  out.high = get_string(words, "high");
  out.text = get_string(words, "text");
  out.blames_high = get_string(words, "blames") == "high";
  out.shows_high = get_string(words, "shows") == "high";
  return out;
}

StructRules::Keys keys_of(const Object& words) {
  const auto list = [&](std::string_view word) {
    const Value* found = find(words, word);
    return found != nullptr ? string_items(*found) : std::vector<std::string>();
  };
  const Value* when = find(words, "when");
  return {when != nullptr ? conditions_of(*when) : Conditions(), std::string(get_string(words, "member")), list("there"), list("filled"),
          list("oneOf")};
}

// Reads one row; false if the row is invalid.
bool read_blame(const Object& words, StructRules& out) {
  using Kind = StructRules::Blame::Kind;
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"required", Kind::kRequired}, {"invalid", Kind::kInvalid}, {"forbidden", Kind::kForbidden}};
  StructRules::Blame& blame = out.blames.emplace_back();
  for (const auto& [key, value] : words) {
    const std::string_view word(key);
    const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& row) { return row.first == word; });
    if (kind != std::end(kKinds)) {
      blame.kind = kind->second;
      blame.text = string_or_empty(value);
    } else if (word == "when" || word == "unless") {
      Conditions& conditions = word == "when" ? blame.when : blame.unless;
      conditions = conditions_of(value);
      if (conditions.empty()) return false;
    } else if (word == "quotes") {
      blame.quotes = string_or_empty(value);
    } else if (word == "shows") {
      blame.shows = to_json(value);
    } else if (word == "whole" && value.is_bool()) {
      blame.whole = value.get_bool();
    } else {
      return false;
    }
  }
  return !blame.text.empty() && (!blame.when.empty() || !blame.unless.empty());
}

}  // namespace

const StructRules* Compiler::struct_rules_of(const Object& schema, const std::string& path) {
  const Object* words = get_object(schema, "x-backplane-struct-rules");
  if (words == nullptr) return nullptr;
  StructRules& out = state_.struct_rules.emplace_back();
  for (const auto& [key, value] : *words) {
    const std::string_view word(key);
    if (const auto side = side_of(word); side && value.is_array()) {
      for (const Value& limit : value.get_array()) {
        const Object& limit_rule = limit.get_object();
        out.limits.push_back({*side, string_items(limit_rule.at("members")), std::string(get_string(limit_rule, "limit")),
                              std::string(get_string(limit_rule, "text")), get_bool(limit_rule, "quotesLimit").value_or(false)});
      }
      continue;
    }
    if (word == "blame" && value.is_array()) {
      for (const Value& row : value.get_array()) {
        if (!row.is_object() || !read_blame(row.get_object(), out)) fail(path + ".x-backplane-struct-rules", "blame");
      }
      continue;
    }
    if (word == "ordered" && value.is_array()) {
      for (const Value& row : value.get_array()) out.orders.push_back(order_of(row.get_object()));
      continue;
    }
    if (word == "keys" && value.is_array()) {
      for (const Value& row : value.get_array()) out.keys.push_back(keys_of(row.get_object()));
      continue;
    }
    if (!value.is_object()) {
      fail(path + ".x-backplane-struct-rules", std::string(word));
      continue;
    }
    const Object& rule = value.get_object();
    const auto list = [&](std::string_view name) {
      const Value* found = find(rule, name);
      return found ? string_items(*found) : std::vector<std::string>();
    };
    if (word == "union") {
      out.is_union = true;
      out.union_except = list("except");
      out.union_order = list("order");
      for (const auto& [member, name] : object_or_empty(rule, "as")) out.union_as.emplace_back(member, string_or_empty(name));
      out.none_text = get_string(rule, "none");
      out.many_text = get_string(rule, "many");
      out.union_by = get_string(rule, "by");
      for (const auto& [named, member] : object_or_empty(rule, "of")) out.union_of.emplace_back(named, string_or_empty(member));
    } else if (word == "frozen") {
      out.frozen_by = get_string(rule, "by");
      out.frozen = list("members");
      out.thawed = list("except");
      out.frozen_text = get_string(rule, "text");
    } else if (word == "maxBytes") {
      out.counted = list("members");
      out.max_bytes = get_int(rule, "bytes").value_or(std::numeric_limits<std::int64_t>::max());
      out.counted_path = get_string(rule, "path");
    } else if (word == "anyOf") {
      out.any_of = list("members");
      out.any_text = get_string(rule, "text");
      if (const Value* when = find(rule, "when")) out.any_when = conditions_of(*when);
    } else if (word == "distinctKeys") {
      out.distinct = get_string(rule, "member");
      out.distinct_from = get_string(rule, "from");
    } else {
      fail(path + ".x-backplane-struct-rules", "\"" + std::string(word) + "\" is no rule");
    }
  }
  return &out;
}

}  // namespace backplane::schema
