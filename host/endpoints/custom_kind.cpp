#include "endpoints/custom_kind.hpp"

#include "endpoints/body.hpp"

namespace backplane::endpoints {

std::string missing_kind_text(std::string_view body) { return "Object 'Kind' is missing in '" + std::string(body) + "'"; }

std::string_view type_accessor_problem(const Object& object) {
  const Value* version = find(object, "apiVersion");
  if (version == nullptr || !version->is_null()) return {};
  return ".apiVersion accessor error: <nil> is of the type <nil>, expected string";
}

GroupVersionKind declared_kind(const Value& tree) {
  auto declared = kind_in_body(tree, GroupVersionKind());
  return declared.ok() ? std::move(*declared) : GroupVersionKind();
}

Status check_declared_kind(const GroupVersionKind& declared, const GroupVersionKind& wanted, const Object& object) {
  FieldErrors errors;
  if (declared.kind != wanted.kind) errors.invalid("kind", declared.kind, "must be " + wanted.kind);
  const std::string version = declared.group_version().to_string(), right = wanted.group_version().to_string();
  if (version != right) errors.invalid("apiVersion", version, "must be " + right);
  return errors.empty() ? Status() : errors.to_status(declared.group, declared.kind, meta_name(object));
}

}  // namespace backplane::endpoints
