// Adapts sets to a type: named fields as members, and lists and maps that have become atomic.
#include "engine/object_fields.hpp"
#include "fields/form.hpp"
#include "fields/node.hpp"

namespace backplane::fields {
namespace {

// The type below an element; none if the type has no such element.
TypeRef below(const Form& form, const PathElement& element) {
  if (element.kind() == PathElement::Kind::kField && form.map != nullptr) {
    const MapForm::Field* field = form.map->find(element.name());
    return field == nullptr ? form.map->elements : field->type;
  }
  if (element.kind() == PathElement::Kind::kKey && form.list != nullptr) return form.list->items;
  return {};
}

NodeRef named(const NodeRef& node, const TypeRef& type) {
  if (node == nullptr) return nullptr;
  const Form form = form_of(type);
  Entries out;
  bool changed = false;
  out.reserve(node->entries.size());
  for (const Entry& entry : node->entries) {
    const bool field = entry.element.kind() == PathElement::Kind::kField && form.map != nullptr;
    const bool declared = !entry.member && field && form.map->find(entry.element.name()) != nullptr;
    NodeRef deeper = named(entry.below, below(form, entry.element));
    changed = changed || declared || deeper != entry.below;
    out.push_back({entry.element, std::move(deeper), entry.member || declared});
  }
  return changed ? sorted_node(std::move(out)) : node;
}

NodeRef reconciled(const NodeRef& node, const TypeRef& type);

// The fields below an element of this type; `atomic`: the element now owns all of them.
NodeRef reconciled_below(const Entry& entry, const TypeRef& type, bool& atomic) {
  const Form form = form_of(type);
  const bool map = form.map != nullptr;
  if (map && form.map->deduced) return entry.below;
  if (!map && (form.scalar != Scalar::kNone || form.list == nullptr)) return entry.below;
  if (map ? form.map_atomic : form.list_atomic) {
    atomic = entry.below != nullptr;
    return nullptr;
  }
  return reconciled(entry.below, type);
}

NodeRef reconciled(const NodeRef& node, const TypeRef& type) {
  if (node == nullptr) return nullptr;
  const Form form = form_of(type);
  Entries out;
  bool changed = false;
  for (std::size_t i = 0; i < node->entries.size(); ++i) {
    const Entry& entry = node->entries[i];
    TypeRef next;
    if (form.map == nullptr) {
      next = form.list->items;
    } else {
      const MapForm::Field* field = entry.element.kind() == PathElement::Kind::kField ? form.map->find(entry.element.name()) : nullptr;
      next = field == nullptr ? form.map->elements : field->type;
    }
    bool atomic = false;
    NodeRef deeper = next.none() ? entry.below : reconciled_below(entry, next, atomic);
    if (!changed && !atomic && deeper == entry.below) continue;
    if (!changed) out.assign(node->entries.begin(), node->entries.begin() + static_cast<std::ptrdiff_t>(i));
    changed = true;
    out.push_back({entry.element, std::move(deeper), entry.member || atomic});
  }
  return changed ? sorted_node(std::move(out)) : node;
}

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

FieldSet with_named_fields(const Schema* type, const FieldSet& fields) {
  return FieldSet(fields::named(fields.root(), fields::root_type(type)));
}

std::optional<FieldSet> reconciled_fields(const Schema* type, const FieldSet& fields) {
  const fields::TypeRef root = fields::root_type(type);
  const fields::Form form = fields::form_of(root);
  if (form.map == nullptr || form.map->deduced || form.map_atomic) return std::nullopt;
  fields::NodeRef out = fields::reconciled(fields.root(), root);
  if (out == fields.root()) return std::nullopt;
  return FieldSet(std::move(out));
}

}  // namespace BACKPLANE_API
