#include "reconcile.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "rules.hpp"

namespace backplane::rbac {
namespace {

const Array& array_or_empty(const Object& parent, std::string_view key) {
  static const Array kEmpty;
  const Array* found = get_array(parent, key);
  return found != nullptr ? *found : kEmpty;
}

bool is_binding(const Delivered& delivered) { return delivered.resource == kClusterRoleBindings || delivered.resource == kRoleBindings; }

// Whether two objects with text members are equal; "" equals absent.
bool same_texts(const Object& a, const Object& b, std::initializer_list<std::string_view> members) {
  return std::all_of(members.begin(), members.end(),
                     [&](std::string_view member) { return get_string(a, member) == get_string(b, member); });
}

bool same_subject(const Value& a, const Value& b) {
  const Object *left = a.if_object(), *right = b.if_object();
  return left != nullptr && right != nullptr && same_texts(*left, *right, {"kind", "apiGroup", "name", "namespace"});
}

// A selector without its empty members.
Object selector_of(const Value& value) {
  Object out;
  if (const Object* selector = value.if_object()) {
    for (const auto& [key, member] : *selector) {
      const bool empty =
          member.is_null() || (member.is_array() && member.get_array().empty()) || (member.is_object() && member.get_object().empty());
      if (!empty) out[key] = member;
    }
  }
  return out;
}
bool same_selector(const Value& a, const Value& b) { return selector_of(a) == selector_of(b); }

// Adds to `list` the items of `wanted` that it lacks.
template <class Same>
bool add_missing(Object& object, std::string_view list, const Array& wanted, Same same) {
  Array missing;
  const Array& have = array_or_empty(object, list);
  for (const Value& each : wanted) {
    const auto is_it = [&](const Value& other) { return same(each, other); };
    if (std::none_of(have.begin(), have.end(), is_it)) missing.push_back(each);
  }
  if (missing.empty()) return false;
  Array& out = ensure_array(object, list);
  out.insert(out.end(), missing.begin(), missing.end());
  return true;
}

bool add_missing_texts(Object& metadata, std::string_view map, const Object& wanted) {
  bool out = false;
  for (const auto& [key, value] : wanted) {
    if (object_or_empty(metadata, map).contains(key)) continue;
    ensure_object(metadata, map)[key] = value;
    out = true;
  }
  return out;
}

bool revise_metadata(const Delivered& delivered, Object& out) {
  const Object& wanted = object_or_empty(delivered.object, "metadata");
  Object& metadata = ensure_object(out, "metadata");
  const bool annotated = add_missing_texts(metadata, "annotations", object_or_empty(wanted, "annotations"));
  const bool labelled = add_missing_texts(metadata, "labels", object_or_empty(wanted, "labels"));
  return annotated || labelled;
}

bool revise_rules(const Delivered& delivered, Object& out) {
  const Array missing = to_json_rules(missing_rules(rules_of(out), rules_of(delivered.object)));
  if (missing.empty()) return false;
  Array& rules = ensure_array(out, "rules");
  rules.insert(rules.end(), missing.begin(), missing.end());
  return true;
}

bool revise_aggregation(const Delivered& delivered, Object& out) {
  const Object* wanted = get_object(delivered.object, "aggregationRule");
  if (wanted == nullptr) return has(out, "aggregationRule") && erase_member(out, "aggregationRule");
  const Array& selectors = array_or_empty(*wanted, "clusterRoleSelectors");
  return add_missing(ensure_object(out, "aggregationRule"), "clusterRoleSelectors", selectors, same_selector);
}

bool revise_role(const Delivered& delivered, Object& out) {
  const bool rules = revise_rules(delivered, out);
  const bool aggregation = revise_aggregation(delivered, out);
  return rules || aggregation;
}

bool refers_to_other_role(const Delivered& delivered, const Object& current) {
  return !same_texts(object_or_empty(delivered.object, "roleRef"), object_or_empty(current, "roleRef"), {"apiGroup", "kind", "name"});
}

}  // namespace

std::optional<Revision> revised(const Delivered& delivered, const Object& current) {
  Revision out;
  const Object& annotations = object_or_empty(object_or_empty(current, "metadata"), "annotations");
  out.forbidden = get_string(annotations, kAutoUpdate) == "false";
  out.replaces = is_binding(delivered) && refers_to_other_role(delivered, current);
  if (out.replaces) {
    out.object = delivered.object;
    return out;
  }
  out.object = current;
  const bool metadata = revise_metadata(delivered, out.object);
  const bool rest = is_binding(delivered) ? add_missing(out.object, "subjects", array_or_empty(delivered.object, "subjects"), same_subject)
                                          : revise_role(delivered, out.object);
  if (!metadata && !rest) return std::nullopt;
  return out;
}

Object succeeding(const Delivered& delivered, const Object& predecessor) {
  // The rules of an aggregated role are computed, not set by clients.
  if (has(predecessor, "aggregationRule")) return delivered.object;
  Object out(delivered.object);
  const Object& metadata = object_or_empty(predecessor, "metadata");
  for (const std::string_view member : {"labels", "annotations"}) take_member(ensure_object(out, "metadata"), metadata, member);
  for (const std::string_view member : {"rules", "subjects"}) take_member(out, predecessor, member);
  std::optional<Revision> revision = revised(delivered, out);
  return revision && !revision->forbidden ? std::move(revision->object) : out;
}

}  // namespace backplane::rbac
