#include "backplane/workload/annotation_value.hpp"

namespace backplane::workload {

std::string_view go_kind(const Value& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  return value.is_string() ? "string" : value.is_bool() ? "bool" : "number";
}

namespace {

std::string mismatch(const Value& value, const std::string& go_type) {
  return "json: cannot unmarshal " + std::string(go_kind(value)) + " into Go value of type " + go_type;
}

AnnotationValue problem_of(std::string problem) { return {nullptr, std::move(problem)}; }

AnnotationValue parsed(std::string_view text) {
  auto read = parse_json(text, {}, nullptr);
  return read.ok() ? AnnotationValue{std::move(*read), {}} : problem_of(read.status().message());
}

// Returns the error if the value is not an object of the type. Otherwise changes the object into canonical form and returns an empty text.
std::string object_problem(Value& value, const Schema& type, const std::string& go_type) {
  if (!value.is_object()) return mismatch(value, go_type);
  const Status status = type.normalize(value, nullptr);
  return status.ok() ? std::string() : status.message();
}

}  // namespace

AnnotationValue read_annotation(std::string_view text, const Schema& type, std::string_view go_type) {
  AnnotationValue out = parsed(text);
  if (!out.problem.empty() || out.value.is_null()) return out;
  std::string problem = object_problem(out.value, type, std::string(go_type));
  return problem.empty() ? out : problem_of(std::move(problem));
}

AnnotationValue read_annotation_list(std::string_view text, const Schema& type, std::string_view go_type) {
  AnnotationValue out = parsed(text);
  if (!out.problem.empty() || out.value.is_null()) return out;
  if (!out.value.is_array()) return problem_of(mismatch(out.value, "[]" + std::string(go_type)));
  for (Value& item : out.value.get_array()) {
    if (item.is_null()) item = Object();
    if (std::string problem = object_problem(item, type, std::string(go_type)); !problem.empty()) return problem_of(std::move(problem));
  }
  return out;
}

}  // namespace backplane::workload
