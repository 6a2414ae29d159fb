#include "rule_run.hpp"

#include <algorithm>
#include <unordered_map>

#include "definition.hpp"
#include "rule_metrics.hpp"

namespace backplane::apiextensions {
namespace {

constexpr std::size_t kMostMessageBytes = 5 * 1024;
constexpr std::string_view kNoBudget = "validation failed due to running out of cost budget, no further validation rules will be run";
// The number of rules that run between two checks whether the client is still connected.
constexpr int kRulesUnattended = 64;
constexpr std::string_view kCallLimit = "operation cancelled: actual cost limit exceeded";

// The items of the old object's lists of type map, by their keys: a list is indexed once, regardless of the number of look-ups.
class OldItems {
 public:
  // The first item with the same keys; null: there is none, or the keys are no scalars.
  const Value* find(const std::vector<std::string>& keys, const Value& item, const Value* old) {
    if (keys.empty() || old == nullptr || !old->is_array()) return nullptr;
    std::string text;
    if (!append_keys(keys, item, text)) return nullptr;
    const auto& items = items_of(keys, *old);
    const auto found = items.find(text);
    return found == items.end() ? nullptr : found->second;
  }

 private:
  using Items = std::unordered_map<std::string, const Value*>;

  static bool append_keys(const std::vector<std::string>& keys, const Value& item, std::string& out) {
    if (!item.is_object()) return false;
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
      const Value* value = backplane::find(item.get_object(), key);
      if (value == nullptr || value->is_structured() || value->is_null()) return false;
      append_json(out, *value);
      out += ',';
      return true;
    });
  }
  const Items& items_of(const std::vector<std::string>& keys, const Value& list) {
    const auto [known, fresh] = lists_.try_emplace(&list);
    if (!fresh) return known->second;
    for (const Value& item : list.get_array()) {
      std::string text;
      if (append_keys(keys, item, text)) known->second.emplace(std::move(text), &item);
    }
    return known->second;
  }

  std::unordered_map<const Value*, Items> lists_;
};

bool same_value(const KeyedPart* keyed, const Value& now, const Value& old, OldItems& items);

bool same_items(const KeyedPart& keyed, const Value& now, const Value& old, OldItems& items) {
  if (now.get_array().size() != old.get_array().size()) return false;
  return std::all_of(now.get_array().begin(), now.get_array().end(), [&](const Value& item) {
    const Value* before = items.find(keyed.keys, item, &old);
    return before != nullptr && same_value(keyed.items.get(), item, *before, items);
  });
}

bool same_members(const KeyedPart& keyed, const Object& now, const Object& old, OldItems& items) {
  if (now.size() != old.size()) return false;
  return std::all_of(now.begin(), now.end(), [&](const auto& member) {
    const std::string_view name(member.key().data(), member.key().size());
    const auto property = keyed.properties.find(name);
    const bool named = property != keyed.properties.end();
    if (keyed.open && !named && !keyed.has_values) return false;
    const Value* before = find(old, name);
    return before != nullptr && same_value(named ? property->second.get() : keyed.values.get(), member.value(), *before, items);
  });
}

// Whether the values are equal; the order of items with keys is ignored.
bool same_value(const KeyedPart* keyed, const Value& now, const Value& old, OldItems& items) {
  if (keyed == nullptr) return now == old;
  if (now.is_array() && old.is_array() && !keyed->keys.empty()) return same_items(*keyed, now, old, items);
  if (now.is_object() && old.is_object()) return same_members(*keyed, now.get_object(), old.get_object(), items);
  return now == old;
}

// A value and its old value.
struct Pair {
  const Value* now = nullptr;
  const Value* old = nullptr;
  const KeyedPart* keyed = nullptr;
  bool known() const noexcept { return old != nullptr; }
};

// The value whose change decides whether a failure is an error: the value itself if its old value is known, otherwise the enclosing value.
struct Ratchet {
  Pair here, around;
  const Pair& deciding() const noexcept { return here.known() ? here : around; }
  Ratchet inner(const RuleNode& node, const Value& now, const Value* old) const {
    if (!here.known()) return *this;
    return {{&now, old, node.keyed.get()}, here};
  }
};

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

std::string printed(const Value& value) {
  if (value.is_string()) return quoted(text_of(value));
  return value.is_number() ? go_print(value) : to_json(value);
}

FieldError failure(const Rule& rule, const RuleNode& node, const std::string& path, const Value& value, const std::string& detail) {
  const bool omitted = node.type == "object" || node.type == "array";
  if (rule.reason == "FieldValueForbidden") return {FieldErrorType::kForbidden, path, "Forbidden: " + detail};
  if (rule.reason == "FieldValueRequired") return {FieldErrorType::kRequired, path, "Required value: " + detail};
  const std::string shown = omitted ? std::string() : ": " + printed(value);
  if (rule.reason == "FieldValueDuplicate") return {FieldErrorType::kDuplicate, path, "Duplicate value" + shown};
  return {FieldErrorType::kInvalid, path, "Invalid value" + shown + ": " + detail};
}

class Run {
 public:
  Run(cel::Budget& budget, RuleFindings findings) : budget_(budget), findings_(findings) {}

  void look(const RuleNode& node, const std::string& path, const Value& value, const Value* old, const Ratchet& ratchet) {
    if (value.is_null() || ended_) return;
    const RuleTimer timer(rule_evaluations());
    ask_all(node, path, value, old, ratchet);
    if (value.is_array())
      look_at_items(node, path, value.get_array(), old, ratchet);
    else if (value.is_object())
      look_at_members(node, path, value.get_object(), old, ratchet);
  }

 private:
  void look_at_items(const RuleNode& node, const std::string& path, const Array& list, const Value* old, const Ratchet& ratchet) {
    if (node.items == nullptr) return;
    for (std::size_t i = 0; i < list.size() && !ended_; ++i) {
      const Value* before = old_items_.find(node.keys, list[i], old);
      const Ratchet inner = ratchet.inner(*node.items, list[i], old_items_.find(node.keys, list[i], ratchet.here.old));
      look(*node.items, path + "[" + std::to_string(i) + "]", list[i], before, inner);
    }
  }

  void look_at_members(const RuleNode& node, const std::string& path, const Object& object, const Value* old, const Ratchet& ratchet) {
    for (const auto& [key, value] : object) {
      if (ended_) return;
      const std::string_view name(key.data(), key.size());
      const auto property = node.properties.find(name);
      const RuleNode* below = property != node.properties.end() ? property->second.get() : nullptr;
      const std::string inner_path =
          below != nullptr ? (path.empty() ? "" : path + ".") + std::string(name) : path + "[" + std::string(name) + "]";
      if (below == nullptr) below = node.values.get();
      if (below != nullptr) look(*below, inner_path, value, member(old, name), inner(*below, ratchet, name, value));
    }
  }

  static const Value* member(const Value* object, std::string_view name) {
    return object != nullptr && object->is_object() ? find(object->get_object(), name) : nullptr;
  }
  static Ratchet inner(const RuleNode& node, const Ratchet& ratchet, std::string_view name, const Value& value) {
    // The root's apiVersion and kind are equal in both objects, so a failed rule of these members is always an error.
    const bool root = !ratchet.around.known();
    if (ratchet.here.known() && root && (name == "apiVersion" || name == "kind")) return {};
    return ratchet.inner(node, value, member(ratchet.here.old, name));
  }

  void invalid_type(const RuleNode& node, const std::string& path, const std::string& detail) {
    findings_.errors.invalid(path, node.type, detail);
  }

  void ask_all(const RuleNode& node, const std::string& path, const Value& value, const Value* old, const Ratchet& ratchet) {
    if (node.rules.empty()) return;
    if (budget_.left == 0) {
      invalid_type(node, path, std::string(kNoBudget));
      ended_ = true;
      return;
    }
    if (old != nullptr && old->is_null()) old = nullptr;
    for (const Rule& rule : node.rules) {
      if (ended_) return;
      if (!rule.compiled.problem.empty()) {
        invalid_type(node, path, "rule compile error: " + rule.compiled.problem);
        continue;
      }
      if (rule.compiled.program == nullptr) continue;
      // A transition rule needs an old value, unless optionalOldSelf is set.
      if (rule.compiled.uses_old && old == nullptr && !rule.optional_old) continue;
      ask(rule, node, path, value, old, ratchet);
    }
  }

  cel::Outcome run(const cel::Program& program, const Value& value, const Value* old, bool bare = false) {
    const cel::Binding bindings[] = {{"self", &value}, {"oldSelf", old, nullptr, bare}};
    return cel::run(program, bindings, budget_);
  }

  // If no rule of the node uses oldSelf, messages do not get it either.
  static bool asks_about_changes(const RuleNode& node) {
    return std::any_of(node.rules.begin(), node.rules.end(), [](const Rule& rule) { return rule.compiled.uses_old; });
  }

  // The client has disconnected, so the remaining rules are not run.
  void interrupted(const Rule& rule, const RuleNode& node, const std::string& path) {
    invalid_type(node, path, "operation interrupted evaluating rule: " + rule.words);
    ended_ = true;
  }

  void ask(const Rule& rule, const RuleNode& node, const std::string& path, const Value& value, const Value* old, const Ratchet& ratchet) {
    if (++asked_ % kRulesUnattended == 0 && budget_.cancelled && budget_.cancelled()) return interrupted(rule, node, path);
    const cel::Outcome outcome = run(*rule.compiled.program, value, old);
    switch (outcome.end) {
      case cel::Outcome::End::kValue:
        if (!outcome.value.is_bool() || !outcome.value.get_bool()) fail(rule, node, path, value, old, ratchet);
        return;
      case cel::Outcome::End::kCancelled:
        return interrupted(rule, node, path);
      case cel::Outcome::End::kFailed:
        if (outcome.message.starts_with("no such overload"))
          invalid_type(node, path,
                       "'" + outcome.message +
                           "': call arguments did not match a supported operator, function or macro "
                           "signature for rule: " +
                           rule.words);
        else
          invalid_type(node, path, outcome.message + " evaluating rule: " + rule.words);
        return;
      case cel::Outcome::End::kCallLimit:
        invalid_type(node, path,
                     "'" + std::string(kCallLimit) +
                         "': no further validation rules will be run due to call cost exceeds limit "
                         "for rule: " +
                         rule.words);
        break;
      case cel::Outcome::End::kNoBudget:
        invalid_type(node, path, std::string(kNoBudget));
        break;
    }
    ended_ = true;
  }

  // Each pair is compared once, because the enclosing value may decide for many items.
  bool same(const Pair& pair) {
    if (!pair.known()) return false;
    const auto [known, fresh] = same_.try_emplace(pair.now, false);
    if (fresh) known->second = same_value(pair.keyed, *pair.now, *pair.old, old_items_);
    return known->second;
  }

  void add(const Rule& rule, const Ratchet& ratchet, FieldError error) {
    if (!rule.compiled.uses_old && same(ratchet.deciding()))
      findings_.warnings.push_back((error.field.empty() ? std::string("<nil>") : error.field) + ": " + error.text);
    else
      findings_.errors.add(std::move(error));
  }

  void fail(const Rule& rule, const RuleNode& node, const std::string& path, const Value& value, const Value* old, const Ratchet& ratchet) {
    const std::string at = rule.field_path.empty() ? path : (path.empty() ? "" : path + ".") + rule.field_path;
    std::string detail;
    if (rule.compiled.message != nullptr) {
      const std::string stop = message_of(rule, value, asks_about_changes(node) ? old : nullptr, detail);
      if (!stop.empty()) {
        ended_ = true;
        return add(rule, ratchet, {FieldErrorType::kInvalid, at, "Invalid value: " + quoted(node.type) + ": " + stop});
      }
    }
    if (detail.empty()) detail = rule.message.empty() ? "failed rule: " + rule.words : rule.message;
    add(rule, ratchet, failure(rule, node, at, value, detail));
  }

  // Sets `detail` to the result of messageExpression. Returns an error if messageExpression costs too much; the error ends the run.
  // Regardless of optionalOldSelf, oldSelf is the plain old value here, or absent.
  std::string message_of(const Rule& rule, const Value& value, const Value* old, std::string& detail) {
    const cel::Outcome outcome = run(*rule.compiled.message, value, old, true);
    if (outcome.end == cel::Outcome::End::kNoBudget)
      return "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
    if (outcome.end == cel::Outcome::End::kCallLimit)
      return "no further validation rules will be run due to call cost exceeds limit for messageExpression: " +
             quoted(rule.message_expression);
    if (outcome.end == cel::Outcome::End::kCancelled) ended_ = true;
    if (outcome.end != cel::Outcome::End::kValue) return {};
    std::string text = trimmed(text_of(outcome.value));
    const bool usable = text.size() <= kMostMessageBytes && text.find('\n') == std::string::npos;
    if (usable) detail = std::move(text);
    return {};
  }

  OldItems old_items_;
  std::unordered_map<const Value*, bool> same_;
  cel::Budget& budget_;
  RuleFindings findings_;
  bool ended_ = false;
  int asked_ = 0;
};

}  // namespace

void run_rules(const RuleNode& rules, const Value& object, const Value* old, bool ratchet, const std::string& path, cel::Budget& budget,
               RuleFindings findings) {
  Ratchet start;
  if (ratchet && old != nullptr) start.here = {&object, old, rules.keyed.get()};
  Run(budget, findings).look(rules, path, object, old, start);
}

bool blocks_rules(const FieldErrors& errors) {
  return std::any_of(errors.list().begin(), errors.list().end(), [](const FieldError& error) {
    return error.type == FieldErrorType::kNotSupported || error.type == FieldErrorType::kRequired ||
           error.type == FieldErrorType::kTooLong || error.type == FieldErrorType::kTooMany || error.type == FieldErrorType::kTypeInvalid;
  });
}

void report_rule_stopped(FieldErrors& errors) {
  errors.invalid_raw("", "null",
                     "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
                     "validation");
}

}  // namespace backplane::apiextensions
