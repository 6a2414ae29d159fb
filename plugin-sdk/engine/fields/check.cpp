// Validates an object against its type (upstream: typed.Validate).
#include "fields/check.hpp"

#include <algorithm>
#include <unordered_set>

#include "engine/object_fields.hpp"
#include "fields/items.hpp"

namespace backplane::fields {
namespace {

// Longer values are cut in errors.
constexpr std::size_t kMostShown = 1024;

std::string shown(std::string text) {
  if (text.size() > kMostShown) text.replace(kMostShown, std::string::npos, "...");
  return text;
}

// Go's name for the type of a decoded value.
std::string_view go_kind(const Value& value) noexcept {
  switch (value.kind()) {
    case json::kind::string:
      return "string";
    case json::kind::bool_:
      return "bool";
    case json::kind::array:
      return "[]interface {}";
    case json::kind::object:
      return "map[string]interface {}";
    case json::kind::int64:
      return "int64";
    default:
      return "float64";
  }
}

// Appends a decoded value as Go's %#v prints it.
void append_syntax(std::string& out, const Value& value) {
  if (value.is_null()) {
    out += "interface {}(nil)";
  } else if (value.is_string()) {
    out += quoted(value.get_string());
  } else if (value.is_array()) {
    out += "[]interface {}{";
    bool first = true;
    for (const Value& item : value.get_array()) {
      if (!first) out += ", ";
      first = false;
      append_syntax(out, item);
    }
    out += '}';
  } else if (value.is_object()) {
    std::vector<const json::key_value_pair*> members;
    for (const auto& member : value.get_object()) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    out += "map[string]interface {}{";
    for (const auto* member : members) {
      if (member != members.front()) out += ", ";
      out += quoted(std::string_view(member->key())) + ":";
      append_syntax(out, member->value());
    }
    out += '}';
  } else {
    out += go_print(value);
  }
}

// The text of the upstream type that holds a decoded value.
std::string held(const Value& value) { return shown("&{" + go_print(value) + "}"); }

std::string held_syntax(const Value& value) {
  std::string out = "&value.valueUnstructured{Value:";
  append_syntax(out, value);
  return shown(out + "}");
}

class Checker {
 public:
  explicit Checker(Duplicates duplicates) : duplicates_(duplicates) {}
  Problems problems;

  void check(const TypeRef& type, const Value& value) {
    const Form form = narrowed(form_of(type), &value);
    if (form.map != nullptr) {
      if (value.is_object())
        members(*form.map, value.get_object());
      else if (!value.is_null())
        problems.add("expected map, got " + held(value));
    } else if (form.scalar != Scalar::kNone) {
      std::string problem = scalar_problem(form.scalar, &value, {});
      if (!problem.empty()) problems.add(std::move(problem));
    } else if (form.list != nullptr) {
      if (value.is_array())
        items(form, value.get_array());
      else if (!value.is_null())
        problems.add("expected list, got " + held(value));
    } else {
      problems.add("schema error: invalid atom: inlined");
    }
  }

  void members(const MapForm& form, const Object& object) {
    std::size_t hint = 0;
    for (const auto& member : object) {
      const MapForm::Field* field = form.find(member.key(), hint);
      const std::size_t problem = problems.size();
      if (field == nullptr && form.elements.none()) {
        problems.add("field not declared in schema");
        problems.below_field(problem, member.key());
        return;
      }
      check(field == nullptr ? form.elements : field->type, member.value());
      problems.below_field(problem, member.key());
    }
  }

 private:
  // Items of atomic lists are checked too.
  void items(const Form& form, const Array& list) {
    std::unordered_set<std::string> seen;
    std::string why;
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::optional<PathElement> element;
      if (form.list_atomic) {
        element = PathElement::index(static_cast<std::int64_t>(i));
      } else {
        element = element_of(*form.list, list[i], &why);
        if (!element) return problems.add("element " + std::to_string(i) + ": " + why);
        if (!seen.emplace(element->code()).second && duplicates_ == Duplicates::kRefused) add_duplicate(*element);
      }
      const std::size_t problem = problems.size();
      check(form.list->items, list[i]);
      problems.below(problem, *element);
    }
  }

  void add_duplicate(const PathElement& element) {
    std::string text = "duplicate entries for key ";
    append_exact_text(text, element);
    problems.add(std::move(text));
  }

  Duplicates duplicates_;
};

}  // namespace

std::string scalar_problem(Scalar kind, const Value* value, std::string_view prefix) {
  if (value == nullptr || value->is_null()) return {};
  const std::string at(prefix);
  switch (kind) {
    case Scalar::kNumeric:
      return value->is_number() ? "" : at + "expected numeric (int or float), got " + std::string(go_kind(*value));
    case Scalar::kString:
      return value->is_string() ? "" : at + "expected string, got " + held_syntax(*value);
    case Scalar::kBoolean:
      return value->is_bool() ? "" : at + "expected boolean, got " + held(*value);
    default:
      return value->is_structured() ? at + "expected any scalar, got " + held(*value) : "";
  }
}

}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

Status check_fields(const Schema* type, const Object& object, Duplicates duplicates) {
  fields::Checker checker(duplicates);
  const fields::Form form = fields::form_of(fields::root_type(type));
  if (form.map != nullptr) checker.members(*form.map, object);
  return checker.problems.status();
}

}  // namespace BACKPLANE_API
