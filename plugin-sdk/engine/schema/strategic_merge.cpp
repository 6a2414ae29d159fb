// Strategic merge patch: apimachinery's strategicpatch on trees.
#include <unordered_set>

#include "schema/decode.hpp"
#include "schema/members.hpp"
#include "schema/strategic.hpp"

namespace backplane::schema {
namespace strategic {
namespace {

// Whether upstream's struct of this form stores the JSON value as a whole, without fields.
bool is_opaque_struct(Form form) {
  return form == Form::kRawExtension || form == Form::kFieldsV1 || form == Form::kAnyJson || form == Form::kShape;
}

Status look_up(const Type* type, std::string_view key, bool list, Member& out) {
  const bool opaque = type != nullptr && is_opaque_struct(type->form());
  if (!type || (type->form() != Form::kStruct && !opaque)) {
    const std::string_view kind = type && type->form() == Form::kMap ? "map" : "slice";
    return failure("merging an object in json but data type is not struct, instead is: " + std::string(kind));
  }
  const int index = opaque ? -1 : type->body().find(key, 0);
  if (index < 0) {
    return failure("unable to find api field in struct " + std::string(type->go_struct_name()) + " for the json field " + quoted(key));
  }
  out.property = &type->body().properties[static_cast<std::size_t>(index)];
  out.type = list ? out.property->type->body().items : out.property->type;
  return {};
}

Status bad_argument(const Value& value) { return failure("expected a []interface {}, but received a " + std::string(go_type_of(value))); }

// Drops the members for which `unwanted` is true.
template <class Unwanted>
void drop_members(Object& object, Unwanted unwanted) {
  std::vector<std::string> dropped;
  for (auto& member : object) {
    if (unwanted(member)) dropped.emplace_back(member.key());
  }
  for (const std::string& key : dropped) drop_member(object, key);
}

// Drops directives, and values that contain one, from a value that has no counterpart in the original. False: the value itself is dropped.
bool strip_directives(Value& value) {
  if (value.is_object()) {
    if (find(value.get_object(), kDirective)) return false;
    drop_members(value.get_object(), [](auto& member) { return !strip_directives(member.value()); });
  } else if (value.is_array()) {
    keep_items(value.get_array(), [](Value& item) { return strip_directives(item); });
  }
  return true;
}

void drop_nulls(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) drop_nulls(item);
  } else if (value.is_object()) {
    drop_members(value.get_object(), [](auto& member) {
      drop_nulls(member.value());
      return member.value().is_null();
    });
  }
}

Status apply_retain_keys(Object& original, Object& patch) {
  const Value* directive = find(patch, kRetainKeys);
  if (!directive) return {};
  const Value list = *directive;
  drop_member(patch, kRetainKeys);
  if (!list.is_array()) return bad_request("invalid patch format of retainKeys");
  std::unordered_set<std::string_view> retained;
  for (const Value& item : list.get_array()) {
    if (item.is_string()) retained.insert(item.get_string());
  }
  for (const auto& member : patch) {
    const std::string_view key = member.key();
    const bool free = member.value().is_null() || key.starts_with(kDeleteFromList) || key.starts_with(kSetOrder);
    if (!free && !retained.contains(key)) return bad_request("invalid patch format of retainKeys");
  }
  drop_members(original, [&](auto& member) { return !retained.contains(member.key()); });
  return {};
}

// The list of the property `key` after the patch's list was applied, in the order of the $setElementOrder list.
Status apply_order(Object& original, Object& patch, const Type* type, const std::string& key, const Array& order) {
  Value* live = find(original, key);
  Value* changed = find(patch, key);
  if (live && !live->is_array()) return bad_argument(*live);
  if (changed && !changed->is_array()) return bad_argument(*changed);
  Member member;
  if (Status status = look_up(type, key, true, member); !status.ok()) return status;
  const Array nothing;
  const Array& patch_list = changed ? changed->get_array() : nothing;
  if (Status status = check_order(patch_list, order, member.merge_key()); !status.ok()) return status;
  if (!live && !changed) return {};
  const Array before = live ? live->get_array() : Array(original.storage());
  Array merged(before, original.storage());
  if (changed && !live) {
    Value fresh = *changed;
    strip_directives(fresh);
    merged = std::move(fresh.get_array());
  } else if (changed) {
    if (Status status = merge_list(merged, patch_list, member, false); !status.ok()) return status;
  }
  bool maps = false;
  if (Status status = check_items(before, patch_list, maps); !status.ok()) return status;
  if (Status status = merge_order(merged, order, before, maps ? member.merge_key() : std::string_view()); !status.ok()) return status;
  original.insert_or_assign(key, std::move(merged));
  drop_member(patch, key);
  return {};
}

Status apply_orders(Object& original, Object& patch, const Type* type) {
  std::vector<std::pair<std::string, Value>> orders;
  drop_members(patch, [&](auto& member) {
    const bool directive = std::string_view(member.key()).starts_with(kSetOrder);
    if (directive) orders.emplace_back(member.key(), std::move(member.value()));
    return directive;
  });
  for (const auto& [directive, order] : orders) {
    if (!order.is_array()) return bad_argument(order);
    const std::size_t slash = directive.find('/');
    if (slash != kSetOrder.size()) return bad_request("invalid patch format of setElementOrder list");
    if (Status status = apply_order(original, patch, type, directive.substr(slash + 1), order.get_array()); !status.ok()) return status;
  }
  return {};
}

Status merge_present(Value& present, Value& change, const Type* type, std::string_view key, bool deletions) {
  Member member;
  if (Status status = look_up(type, key, present.is_array(), member); !status.ok()) return status;
  if (present.is_array()) return merge_list(present.get_array(), std::move(change.get_array()), member, deletions);
  if (member.property->patch_replace) {
    present = std::move(change);
    return {};
  }
  return merge_object(present.get_object(), std::move(change.get_object()), member.type);
}

Status merge_member(Object& original, std::string_view key, Value& change, const Type* type) {
  const bool deletions = key.starts_with(kDeleteFromList);
  if (deletions) {
    if (key.find('/') != kDeleteFromList.size()) return bad_request("invalid patch format of primitive list");
    key = key.substr(kDeleteFromList.size() + 1);
  }
  if (change.is_null()) {
    drop_member(original, key);
    return {};
  }
  Value* present = find(original, key);
  const bool composed = present && ((present->is_object() && change.is_object()) || (present->is_array() && change.is_array()));
  if (composed) return merge_present(*present, change, type, key, deletions);
  if (deletions) return {};
  drop_nulls(change);
  if (strip_directives(change)) {
    original.insert_or_assign(key, std::move(change));
  } else {
    drop_member(original, key);
  }
  return {};
}

}  // namespace

Status bad_directive(const Value& directive, const Value& holder) {
  return failure("unknown patch type: " + go_print(directive) + " in map: " + go_print(holder));
}

std::string_view go_type_of(const Value& value) noexcept {
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  return value.is_double() ? "float64" : value.is_null() ? "%!s(<nil>)" : "int64";
}

Status merge_object(Object& original, Object patch, const Type* type) {
  if (const Value* directive = find(patch, kDirective)) {
    if (is(directive, "replace")) {
      drop_member(patch, kDirective);
      original = std::move(patch);
      return {};
    }
    if (!is(directive, "delete")) return bad_directive(*directive, Value(patch));
    original.clear();
    return {};
  }
  if (Status status = apply_retain_keys(original, patch); !status.ok()) return status;
  if (Status status = apply_orders(original, patch, type); !status.ok()) return status;
  for (auto& member : patch) {
    if (Status status = merge_member(original, member.key(), member.value(), type); !status.ok()) return status;
  }
  return {};
}

}  // namespace strategic

Status Type::strategic_merge(Value& target, const Value& patch) const {
  if (structural()) return bad_request("strategic merge patch format is not supported");
  if (!patch.is_object()) {
    return bad_request("json: cannot unmarshal " + value_words(patch, false) + " into Go value of type map[string]interface {}");
  }
  if (!target.is_object()) target = Object(target.storage());
  return strategic::merge_object(target.get_object(), Object(patch.get_object(), target.storage()), this);
}

}  // namespace backplane::schema
