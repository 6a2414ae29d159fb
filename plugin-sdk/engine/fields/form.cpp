#include "fields/form.hpp"

#include "text/same_text.hpp"

namespace backplane::fields {
namespace {

const Atom& free_atom(bool granular) {
  static const auto make = [](bool separable) {
    auto out = std::make_unique<Atom>();
    out->scalar = Scalar::kUntyped;
    auto list = std::make_unique<ListForm>();
    auto map = std::make_unique<MapForm>();
    list->items.atom = separable ? &untyped_atom() : out.get();
    map->elements.atom = out.get();
    map->atomic = !separable;
    map->deduced = separable;
    out->list = std::move(list);
    out->map = std::move(map);
    return out;
  };
  if (granular) {
    static const std::unique_ptr<const Atom> deduced = make(true);
    return *deduced;
  }
  static const std::unique_ptr<const Atom> untyped = make(false);
  return *untyped;
}

}  // namespace

const Atom& deduced_atom() { return free_atom(true); }
const Atom& untyped_atom() { return free_atom(false); }

const MapForm::Field* MapForm::find(std::string_view name) const noexcept {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : &fields[found->second];
}

const MapForm::Field* MapForm::find(std::string_view name, std::size_t& hint) const noexcept {
  // Objects have a part of the schema's members, in its order.
  constexpr std::size_t kLookAhead = 4;
  for (std::size_t i = hint; i < fields.size() && i < hint + kLookAhead; ++i) {
    if (!same_text(fields[i].name, name)) continue;
    hint = i + 1;
    return &fields[i];
  }
  const Field* found = fields.empty() ? nullptr : find(name);
  if (found != nullptr) hint = static_cast<std::size_t>(found - fields.data()) + 1;
  return found;
}

Form form_of(const TypeRef& type) {
  const Atom* atom = type.named != nullptr ? &type.named->merge_atom() : type.atom;
  Form out;
  if (atom == nullptr) return out;
  out.scalar = atom->scalar;
  out.list = atom->list.get();
  out.map = atom->map.get();
  if (out.list != nullptr) out.list_atomic = out.list->atomic;
  if (out.map != nullptr) out.map_atomic = out.map->atomic;
  if (type.relation == Relation::kUnset) return out;
  // A keyword next to a reference applies to the map, if there is one.
  if (out.map != nullptr)
    out.map_atomic = type.relation == Relation::kAtomic;
  else
    out.list_atomic = out.list_atomic || type.relation == Relation::kAtomic;
  return out;
}

Form narrowed(const Form& form, const Value* value) noexcept {
  if (value == nullptr || value->is_null()) return form;
  Form out;
  if (value->is_array()) {
    if (form.list == nullptr) return form;
    out.list = form.list;
    out.list_atomic = form.list_atomic;
  } else if (value->is_object()) {
    if (form.map == nullptr) return form;
    out.map = form.map;
    out.map_atomic = form.map_atomic;
  } else {
    if (form.scalar == Scalar::kNone) return form;
    out.scalar = form.scalar;
  }
  return out;
}

TypeRef root_type(const Schema* type) {
  TypeRef out;
  // Only compiled schemas have merge keywords.
  out.named = type != nullptr ? type->compiled() : nullptr;
  if (out.named == nullptr) out.atom = &deduced_atom();
  return out;
}

}  // namespace backplane::fields
