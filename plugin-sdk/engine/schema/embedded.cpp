// x-kubernetes-embedded-resource: the value must have apiVersion, kind and valid metadata.
#include "backplane/types/names.hpp"
#include "schema/constraints.hpp"
#include "schema/findings.hpp"
#include "schema/value_walk.hpp"

namespace backplane::schema {
namespace {

std::string child(const std::string& path, std::string_view key) { return path.empty() ? std::string(key) : path + "." + std::string(key); }

void check_api_version(const Value& value, const std::string& path, FieldErrors& errors) {
  if (!value.is_string()) return errors.invalid_raw(path, to_json(value), "must be a string");
  const std::string_view text = value.get_string();
  if (text.empty()) return errors.invalid(path, text, "must not be empty");
  if (std::count(text.begin(), text.end(), '/') > 1) errors.invalid(path, text, "unexpected GroupVersion string: " + std::string(text));
}

void check_kind(const Value& value, const std::string& path, FieldErrors& errors) {
  if (!value.is_string()) return errors.invalid_raw(path, to_json(value), "must be a string");
  const std::string_view text = value.get_string();
  if (text.empty()) return errors.invalid(path, text, "must not be empty");
  std::string lower(text);
  for (char& letter : lower) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  std::string why;
  for (const std::string& problem : is_dns1035_label(lower)) why.append(why.empty() ? "" : ",").append(problem);
  if (!why.empty()) errors.invalid(path, text, "may have mixed case, but should otherwise match: " + why);
}

void check_metadata(const Object& object, const std::string& path, FieldErrors& errors) {
  Object copy;
  copy["metadata"] = object.at("metadata");
  Object& metadata = ensure_object(copy, "metadata");
  const bool named = !get_string(metadata, "name").empty() || !get_string(metadata, "generateName").empty();
  if (!named) metadata["name"] = "x";  // no name is required
  FieldErrors found;
  validate_object_meta(copy, !get_string(metadata, "namespace").empty(), NameRule::kPathSegment, found);
  for (FieldError error : found.list()) {
    error.field = child(path, error.field);
    errors.add(std::move(error));
  }
}

void check_resource(const Object& object, const std::string& path, FieldErrors& errors) {
  for (std::string_view word : {"apiVersion", "kind"}) {
    if (find(object, word) == nullptr) errors.required(child(path, word));
  }
  if (const Value* version = find(object, "apiVersion")) check_api_version(*version, child(path, "apiVersion"), errors);
  if (const Value* kind = find(object, "kind")) check_kind(*kind, child(path, "kind"), errors);
  if (get_object(object, "metadata") != nullptr) check_metadata(object, path, errors);
}

void look(const Value& value, const Constraints& rule, const Place& place, FieldErrors& found) {
  if (rule.embedded_resource && value.is_object()) check_resource(value.get_object(), place.path(), found);
}

}  // namespace

void check_embedded(const Value& value, const Type& type, const Place& place, FieldErrors& errors) {
  ValueWalk(look, errors).walk(value, type, place);
}

}  // namespace backplane::schema
