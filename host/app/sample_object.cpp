#include "app/sample_object.hpp"

#include <algorithm>
#include <regex>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

struct FormatSample {
  std::string_view format, text;
};
constexpr FormatSample kFormats[] = {{"date-time", "2026-01-01T00:00:00Z"},
                                     {"date", "2026-01-01"},
                                     {"duration", "1h"},
                                     {"byte", "YQ=="},
                                     {"ipv4", "192.0.2.1"},
                                     {"ipv6", "2001:db8::1"},
                                     {"cidr", "192.0.2.0/24"},
                                     {"email", "a@example.com"},
                                     {"hostname", "example.com"},
                                     {"uri", "https://example.com"},
                                     {"uuid", "00000000-0000-4000-8000-000000000000"},
                                     {"mac", "00:00:5e:00:53:01"}};
constexpr const char* kTexts[] = {"a",   "A",    "1",   "example",  "Example", "example.com", "example.com/a", "https://example.com",
                                  "1h",  "10Gi", "v1",  "1.0",      "10",      "1.0.0",       "a/b",           "a-b",
                                  "a_b", "/a",   "a.b", "192.0.2.1"};

bool matches(const std::string& text, const std::regex& pattern, std::int64_t least, std::int64_t most) {
  const auto size = static_cast<std::int64_t>(text.size());
  return size >= least && size <= most && std::regex_search(text, pattern);
}

// A text of the list that matches; the first one if none does.
std::string text_for(const std::string& pattern, std::int64_t least, std::int64_t most) {
  try {
    const std::regex compiled(pattern, std::regex::ECMAScript);
    for (const char* text : kTexts) {
      if (matches(text, compiled, least, most)) return text;
    }
    for (const char letter : {'a', 'A', '1'}) {
      const std::string text(static_cast<std::size_t>(std::clamp<std::int64_t>(least, 1, 1000)), letter);
      if (matches(text, compiled, least, most)) return text;
    }
  } catch (const std::regex_error&) {  // RE2's syntax is not ECMAScript's
  }
  return kTexts[0];
}

Value text_sample(const Object& schema) {
  const std::string_view format = get_string(schema, "format"), pattern = get_string(schema, "pattern");
  for (const FormatSample& row : kFormats) {
    if (row.format == format) return Value(row.text.data());
  }
  const std::int64_t least = get_int(schema, "minLength").value_or(0), most = get_int(schema, "maxLength").value_or(1000);
  return Value(text_for(std::string(pattern), std::max<std::int64_t>(least, 1), std::max<std::int64_t>(most, 1)));
}

Value number_sample(const Object& schema) {
  const Value* least = find(schema, "minimum");
  const Value* most = find(schema, "maximum");
  const auto number = [](const Value* value, double absent) {
    return value != nullptr && value->is_number() ? value->to_number<double>() : absent;
  };
  double value = std::max(number(least, 1), 1.0);
  if (number(most, value) < value) value = number(least, number(most, 1));
  if (get_bool(schema, "exclusiveMinimum").value_or(false) && value == number(least, value - 1)) ++value;
  const double step = number(find(schema, "multipleOf"), 0);
  if (step > 0) value = std::max(step, value);
  return get_string(schema, "type") == "integer" ? Value(static_cast<std::int64_t>(value)) : Value(value);
}

Value list_sample(const Object& schema) {
  Array out;
  const Object* items = get_object(schema, "items");
  for (std::int64_t i = 0; items != nullptr && i < std::min<std::int64_t>(get_int(schema, "minItems").value_or(0), 10); ++i)
    out.push_back(sample_of(*items));
  return out;
}

Value struct_sample(const Object& schema) {
  Object out;
  const Object& properties = object_or_empty(schema, "properties");
  each_text(schema, "required", [&](std::string_view name, std::size_t) { out[name] = sample_of(object_or_empty(properties, name)); });
  return out;
}

}  // namespace

Value sample_of(const Object& schema) {
  for (const char* word : {"example", "default"}) {
    if (const Value* value = find(schema, word)) return *value;
  }
  if (const Array* values = get_array(schema, "enum"); values != nullptr && !values->empty()) return values->front();
  if (get_bool(schema, "x-kubernetes-int-or-string").value_or(false)) return 1;
  const std::string_view type = get_string(schema, "type");
  if (type == "string") return text_sample(schema);
  if (type == "integer" || type == "number") return number_sample(schema);
  if (type == "boolean") return true;
  if (type == "array") return list_sample(schema);
  return struct_sample(schema);
}

SampleObject sample_of_type(const GroupVersionKind& gvk, std::string_view document, std::string_view definition) {
  SampleObject out;
  const Value tree =
      json::parse(json::string_view(document.data(), document.size()), {}, json::parse_options{kMaxJsonDepth, false, false, false});
  const Object& type = object_or_empty(object_or_empty(tree.get_object(), "definitions"), definition);
  Object object{{"apiVersion", gvk.group_version().to_string()}, {"kind", gvk.kind}, {"metadata", Object{{"name", "first"}}}};
  const Value made = sample_of(type);
  for (const auto& [member, value] : made.get_object()) {
    if (!object.contains(member) && member != "status") object[member] = value;
  }
  if (!object.contains("spec") && object_or_empty(type, "properties").contains("spec"))
    object["spec"] = sample_of(object_or_empty(object_or_empty(type, "properties"), "spec"));
  out.object = object;
  auto set = SchemaSet::compile({&document, 1}, {});
  const Schema* schema = set.ok() ? (*set)->find(gvk) : nullptr;
  if (schema == nullptr) return out;
  Value checked = std::move(object);
  FieldErrors errors;
  if (Status status = schema->normalize(checked, nullptr); !status.ok()) return out.problems.push_back(status.message()), out;
  schema->apply_defaults(checked);
  schema->check(checked.get_object(), nullptr, ObjectPart::kWithoutStatus, "", errors);
  for (const FieldError& error : errors.list()) out.problems.push_back(error.field + ": " + error.text);
  return out;
}

}  // namespace backplane
