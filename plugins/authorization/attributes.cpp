#include "attributes.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/types/names.hpp"

namespace backplane::authorization {
namespace {

bool is_one_of(std::string_view word, std::string_view one, std::string_view other) { return word == one || word == other; }

// ---- requirements as selectors

std::string with_separator(std::string text) { return text.empty() ? text : text + ","; }

// One requirement in selector syntax; empty if the operator is unknown. Keys and values have been validated, so they contain no characters
// that selector syntax uses.
std::string label_text(const Object& requirement) {
  const std::string_view op = get_string(requirement, "operator");
  const std::string key(get_string(requirement, "key"));
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  if (!is_one_of(op, "In", "NotIn")) return {};
  std::string values;
  each_text(requirement, "values", [&](std::string_view value, std::size_t i) { values.append(i == 0 ? "" : ",").append(value); });
  return key + (op == "In" ? " in (" : " notin (") + values + ")";
}

void read_labels(const Object& selector, AuthorizationAttributes& out) {
  std::string text(get_string(selector, "rawSelector"));
  each(selector, "requirements", [&](const Object& requirement, std::size_t) {
    const std::string one = label_text(requirement);
    if (one.empty()) {
      out.labels_error = bad_request(quoted(get_string(requirement, "operator")) + " is not a valid label selector operator");
    } else {
      text = with_separator(std::move(text)) + one;
    }
  });
  auto labels = LabelSelector::parse(text);
  if (labels.ok()) {
    out.labels = std::move(*labels);
  } else {
    out.labels_error = std::move(labels.status());
  }
}

Status field_error(const Object& requirement) {
  const std::string_view op = get_string(requirement, "operator");
  if (count_of(requirement, "values") > 1) return bad_request("fieldSelectors do not yet support multiple values");
  if (is_one_of(op, "Exists", "DoesNotExist")) return bad_request("fieldSelectors do not yet support " + std::string(op));
  if (!is_one_of(op, "In", "NotIn")) return bad_request(quoted(op) + " is not a valid field selector operator");
  return {};
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) out.append(c == '\\' || c == ',' || c == '=' ? "\\" : "").push_back(c);
  return out;
}

// A field name may contain characters that selector syntax uses. Therefore the parsed text contains numbers that represent the names.
void read_field_requirements(const Object& selector, AuthorizationAttributes& out) {
  std::string text;
  std::vector<std::string> names;
  each(selector, "requirements", [&](const Object& requirement, std::size_t) {
    Status error = field_error(requirement);
    if (!error.ok()) {
      out.fields_error = std::move(error);
      return;
    }
    text = with_separator(std::move(text)) + std::to_string(names.size());
    text += get_string(requirement, "operator") == "In" ? "=" : "!=";
    each_text(requirement, "values", [&](std::string_view value, std::size_t) { text += escaped(value); });
    names.emplace_back(get_string(requirement, "key"));
  });
  auto numbered = FieldSelector::parse(text);
  if (!numbered.ok()) {
    out.fields_error = std::move(numbered.status());
    return;
  }
  auto fields = numbered->renamed([&](std::string_view number) { return Result<std::string>(names.at(std::stoul(std::string(number)))); });
  if (fields.ok()) out.fields = std::move(*fields);
}

void read_fields(const Object& selector, AuthorizationAttributes& out) {
  if (count_of(selector, "requirements") > 0) return read_field_requirements(selector, out);
  auto fields = FieldSelector::parse(get_string(selector, "rawSelector"));
  if (fields.ok()) {
    out.fields = std::move(*fields);
  } else {
    out.fields_error = std::move(fields.status());
  }
}

// ---- rules

constexpr std::string_view kResource = "spec.resourceAttributes";

void check_selector(const Object& selector, const std::string& path, FieldErrors& errors) {
  const std::string_view raw = get_string(selector, "rawSelector");
  const bool requirements = count_of(selector, "requirements") > 0;
  if (!raw.empty() && requirements) errors.invalid(at(path, "rawSelector"), raw, "may not specified at the same time as requirements");
  if (raw.empty() && !requirements) {
    errors.required(at(path, "requirements"), "when " + path + " is specified, requirements or rawSelector is required");
  }
}

// Unknown operators are valid, because newer clients may send them. The request is evaluated without these requirements.
void check_values(const Object& requirement, const std::string& path, FieldErrors& errors) {
  const std::string_view op = get_string(requirement, "operator");
  const bool values = count_of(requirement, "values") > 0;
  if (is_one_of(op, "In", "NotIn") && !values) {
    errors.required(at(path, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (is_one_of(op, "Exists", "DoesNotExist") && values) {
    errors.forbidden(at(path, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
}

void check_fields(const Object& selector, const std::string& path, FieldErrors& errors) {
  check_selector(selector, path, errors);
  each(selector, "requirements", [&](const Object& requirement, std::size_t i) {
    const std::string item = at(at(path, "requirements"), i);
    if (get_string(requirement, "key").empty()) errors.required(at(item, "key"), "must be specified");
    check_values(requirement, item, errors);
  });
}

void check_labels(const Object& selector, const std::string& path, FieldErrors& errors) {
  check_selector(selector, path, errors);
  each(selector, "requirements", [&](const Object& requirement, std::size_t i) {
    const std::string item = at(at(path, "requirements"), i);
    check_values(requirement, item, errors);
    const std::string_view key = get_string(requirement, "key");
    for (const std::string& problem : is_qualified_name(key)) errors.invalid(at(item, "key"), key, problem);
    each_text(requirement, "values", [&](std::string_view value, std::size_t v) {
      for (const std::string& problem : is_valid_label_value(value)) errors.invalid(at(at(item, "values"), v), value, problem);
    });
  });
}

}  // namespace

AuthorizationAttributes attributes_of(const Object& spec, UserRef user) {
  AuthorizationAttributes out;
  out.user = std::move(user);
  const Object* resource = get_object(spec, "resourceAttributes");
  if (resource == nullptr) {
    const Object& other = object_or_empty(spec, "nonResourceAttributes");
    out.verb = get_string(other, "verb");
    out.path = get_string(other, "path");
    return out;
  }
  out.resource_request = true;
  out.verb = get_string(*resource, "verb");
  out.ns = get_string(*resource, "namespace");
  out.api_group = get_string(*resource, "group");
  out.api_version = get_string(*resource, "version");
  if (out.api_version.empty()) out.api_version = "*";
  out.resource = get_string(*resource, "resource");
  out.subresource = get_string(*resource, "subresource");
  out.name = get_string(*resource, "name");
  if (const Object* labels = get_object(*resource, "labelSelector")) read_labels(*labels, out);
  if (const Object* fields = get_object(*resource, "fieldSelector")) read_fields(*fields, out);
  return out;
}

std::string evaluation_error(const Status& error, const AuthorizationAttributes& attributes) {
  std::string out = error.ok() ? "" : error.message();
  const auto add = [&](const Status& wrong, bool partly, std::string_view selector) {
    if (wrong.ok()) return;
    out.append(out.empty() ? "" : "; ").append(kResource).append(".").append(selector);
    out.append(partly ? " partially" : "").append(" ignored due to parse error");
  };
  add(attributes.fields_error, !attributes.fields.empty(), "fieldSelector");
  add(attributes.labels_error, !attributes.labels.empty(), "labelSelector");
  return out;
}

void check_attributes(const Object& spec, FieldErrors& errors) {
  const Object* resource = get_object(spec, "resourceAttributes");
  if (resource == nullptr) return;
  const std::string path(kResource);
  if (const Object* fields = get_object(*resource, "fieldSelector")) check_fields(*fields, at(path, "fieldSelector"), errors);
  if (const Object* labels = get_object(*resource, "labelSelector")) check_labels(*labels, at(path, "labelSelector"), errors);
}

}  // namespace backplane::authorization
