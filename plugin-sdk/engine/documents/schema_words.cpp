// Walks the schemas of a schema document.
#include <algorithm>
#include <array>

#include "cel/named_formats.hpp"
#include "documents/checks.hpp"
#include "documents/words.hpp"

namespace backplane::documents {
namespace {

constexpr std::array<std::string_view, 6> kTypes = {"array", "boolean", "integer", "number", "object", "string"};
constexpr std::array<std::string_view, 3> kListTypes = {"atomic", "map", "set"};
constexpr std::array<std::string_view, 2> kMapTypes = {"atomic", "granular"};
constexpr std::array<std::string_view, 4> kOmits = {"empty", "never", "unset", "zero"};
constexpr std::array<std::string_view, 2> kModes = {"structural", "typed"};

struct Choice {
  std::string_view word;
  std::span<const std::string_view> values;
};
constexpr Choice kChoices[] = {
    {"type", kTypes}, {"x-kubernetes-list-type", kListTypes}, {"x-kubernetes-map-type", kMapTypes}, {"x-backplane-omit", kOmits}};

// Whether the format is validated; unknown formats are documentation only.
bool is_checked_format(std::string_view type, std::string_view format) {
  if (type == "integer") return format == "int32" || format == "int64";
  if (type == "number") return format == "double" || format == "float";
  return format == "byte" || format == "int-or-string" || schema::is_known_format(format);
}

std::string one_of(std::span<const std::string_view> values) {
  std::string out;
  for (const std::string_view each : values) out += (out.empty() ? "" : ", ") + std::string(each);
  return out;
}

std::string no_such(std::string_view value, std::span<const std::string_view> values) {
  const std::string_view meant = nearest(value, values);
  return quoted(value) + " is not one of " + one_of(values) + (meant.empty() ? "" : "; did you mean " + quoted(meant) + "?");
}

class WordCheck {
 public:
  WordCheck(bool structural, const Report& report) : structural_(structural), report_(report) {}

  void schema(const Object& words) {
    for (const auto& [key, value] : words) {
      at_.emplace_back(key);
      word(key, value);
      at_.pop_back();
    }
    choices(words);
    format(words);
    required(words);
  }
  void enter(std::string step) { at_.push_back(std::move(step)); }
  void leave() { at_.pop_back(); }

 private:
  void word(std::string_view name, const Value& value) {
    const SchemaWord* row = find_word(name);
    if (row == nullptr || !(structural_ ? row->structural : row->typed)) return report_(at_, refusal_of(name, structural_));
    if (const std::string_view wrong = wrong_value(row->value, value); !wrong.empty())
      return report_(at_, quoted(name) + " " + std::string(wrong));
    inside(*row, value);
  }

  void inside(const SchemaWord& row, const Value& value) {
    if (row.word == "x-backplane-shape" || row.value == WordValue::kMembers) {
      for (const auto& [name, each] : value.get_object()) below(std::string(name), each, row.value == WordValue::kMembers);
    } else if (row.value == WordValue::kSchemas) {
      for (std::size_t i = 0; i < value.get_array().size(); ++i) below(std::to_string(i), value.get_array()[i], true);
    } else if ((row.value == WordValue::kSchema || row.value == WordValue::kSchemaOrFlag) && value.is_object()) {
      schema(value.get_object());
    }
  }
  void below(std::string step, const Value& value, bool needs_schema) {
    at_.push_back(std::move(step));
    if (value.is_object()) {
      schema(value.get_object());
    } else if (needs_schema) {
      report_(at_, "must be a schema");
    }
    at_.pop_back();
  }

  void choices(const Object& words) {
    for (const Choice& choice : kChoices) {
      const std::string_view value = get_string(words, choice.word);
      const bool fits = value.empty() || std::find(choice.values.begin(), choice.values.end(), value) != choice.values.end();
      if (!fits) report(choice.word, no_such(value, choice.values));
    }
  }
  void format(const Object& words) {
    const std::string_view format = get_string(words, "format"), type = get_string(words, "type");
    if (!format.empty() && !is_checked_format(type, format))
      report("format", "no engine checks the format " + quoted(format) + " of this type");
  }
  // A member that is required and has no schema would be pruned before the check for required members.
  void required(const Object& words) {
    const Array* names = get_array(words, "required");
    const Object* properties = get_object(words, "properties");
    if (names == nullptr || properties == nullptr) return;
    for (const Value& name : *names) {
      const std::string_view text = name.is_string() ? std::string_view(name.get_string()) : std::string_view();
      if (!text.empty() && !properties->contains(text)) report("required", quoted(text) + " is required and is not one of the properties");
    }
  }
  void report(std::string_view word, std::string message) {
    at_.emplace_back(word);
    report_(at_, std::move(message));
    at_.pop_back();
  }

  const bool structural_;
  const Report& report_;
  Pointer at_;
};

}  // namespace

void check_words(const Object& document, const Report& report) {
  const Value* mode = find(document, "x-backplane-mode");
  const std::string_view word = mode != nullptr && mode->is_string() ? std::string_view(mode->get_string()) : std::string_view();
  if (mode != nullptr && word != "structural") report({"x-backplane-mode"}, no_such(word, kModes) + " (leave it out for typed)");
  const bool former = document.contains("stored");
  for (const auto& member : document) {
    const std::string_view key = member.key();
    if (key == "definitions" || key == "x-backplane-mode") continue;
    if (former && (key == "stored" || key == "like" || key == "kinds")) continue;
    report({std::string(key)}, quoted(key) + " is not a member of a schema document; allowed: definitions, x-backplane-mode");
  }
  WordCheck check(word == "structural", report);
  check.enter("definitions");
  for (const auto& [name, schema] : document.at("definitions").get_object()) {
    check.enter(std::string(name));
    if (schema.is_object()) check.schema(schema.get_object());
    check.leave();
  }
}

}  // namespace backplane::documents
