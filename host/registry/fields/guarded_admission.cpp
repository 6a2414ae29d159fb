#include "registry/fields/guarded_admission.hpp"

#include "registry/fields/managers.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kInvalid =
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; "
    "please fix your requests: ";

bool take(std::string_view& text, std::string_view expected) noexcept {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool take_string(std::string_view& text, std::string_view value) {
  if (value.find('"') == std::string_view::npos && value.find('\\') == std::string_view::npos)
    return take(text, "\"") && take(text, value) && take(text, "\"");
  std::string escaped;
  append_json_string(escaped, value);
  return take(text, escaped);
}

// Takes what to_json() has made of the value off the front of `text`.  False: it is of something else, or may be.
bool take_value(std::string_view& text, const Value& value) {
  if (value.is_string()) return take_string(text, value.get_string());
  if (value.is_object()) {
    bool first = true;
    for (const auto& member : value.get_object()) {
      if (!take(text, first ? "{" : ",") || !take_string(text, member.key()) || !take(text, ":") || !take_value(text, member.value()))
        return false;
      first = false;
    }
    return take(text, first ? "{}" : "}");
  }
  if (!value.is_array()) return take(text, to_json(value));
  bool first = true;
  for (const Value& item : value.get_array()) {
    if (!take(text, first ? "[" : ",") || !take_value(text, item)) return false;
    first = false;
  }
  return take(text, first ? "[]" : "]");
}

bool spells(std::string_view text, const Value& value) { return take_value(text, value) && text.empty(); }

}  // namespace

Task<Status> guarded_admit(AdmissionRunner& runner, AdmissionAttributes& attributes, RequestContext& context, bool sorted_keys) {
  Object* const object = attributes.object;
  const Value* recorded = object != nullptr ? managed_fields_of(*object) : nullptr;
  // As text: it takes a fraction of what it takes to copy the tree and to look for each member of one in the other.
  const std::string before = recorded != nullptr ? to_json(*recorded) : std::string();
  Status admitted = co_await runner.admit(attributes);
  if (!admitted.ok() || object == nullptr) co_return admitted;
  recorded = managed_fields_of(*object);
  if (recorded == nullptr || spells(before, *recorded)) co_return admitted;
  const auto readable = decode_managed(recorded);
  if (readable.ok()) co_return admitted;
  Value kept(context.arena());
  if (!before.empty()) kept = json::parse(before, context.arena(), {.max_depth = 2 * FieldSet::kMaxDepth});
  put_managed_fields(*object, std::move(kept), sorted_keys);
  context.warn(std::string(kInvalid) + readable.status().message());
  co_return admitted;
}

}  // namespace backplane::registry
