// The fields of an object (upstream: typed.ToFieldSet).
#include "engine/object_fields.hpp"
#include "fields/items.hpp"
#include "fields/node.hpp"

namespace backplane::fields {
namespace {

class Lister {
 public:
  Problems problems;

  void members(const MapForm& form, const Object& object, Entries& out) {
    std::size_t hint = 0;
    out.reserve(object.size());
    for (const auto& member : object) {
      const MapForm::Field* field = form.find(member.key(), hint);
      const std::size_t problem = problems.size();
      Entry entry{PathElement::field(member.key()), nullptr, false};
      look(field == nullptr ? form.elements : field->type, member.value(), entry);
      problems.below_field(problem, member.key());
      // An empty value is a field itself, and so is a value without a type.
      const bool empty = member.value().is_null() || (member.value().is_object() && member.value().get_object().empty());
      entry.member = entry.member || empty || field == nullptr;
      if (entry.member || entry.below) out.push_back(std::move(entry));
    }
  }

 private:
  void look(const TypeRef& type, const Value& value, Entry& entry) {
    const Form form = narrowed(form_of(type), &value);
    Entries below;
    if (form.map != nullptr) {
      entry.member = form.map_atomic;
      if (!form.map_atomic && value.is_object()) members(*form.map, value.get_object(), below);
    } else if (form.scalar != Scalar::kNone) {
      entry.member = true;
    } else if (form.list != nullptr) {
      entry.member = form.list_atomic;
      if (!form.list_atomic && value.is_array()) items(*form.list, value.get_array(), below);
    } else {
      problems.add("schema error: invalid atom: inlined");
    }
    entry.below = node_of(std::move(below));
  }

  void items(const ListForm& form, const Array& list, Entries& out) {
    const ItemIndex index(form, &list, nullptr);
    out.reserve(list.size());
    for (const ItemIndex::Item& item : index.items()) {
      const ItemIndex::Found found = index.find(item.element);
      if (found.first != item.value) continue;
      Entry entry{item.element, nullptr, true};
      const std::size_t problem = problems.size();
      // Repeated items are one field, with nothing below it.
      if (found.count == 1) look(form.items, *item.value, entry);
      entry.member = true;
      problems.below(problem, item.element);
      out.push_back(std::move(entry));
    }
  }
};

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

Result<FieldSet> fields_of(const Schema* type, const Object& object) {
  fields::Lister lister;
  fields::Entries out;
  const fields::Form form = fields::form_of(fields::root_type(type));
  if (form.map != nullptr && !form.map_atomic) lister.members(*form.map, object, out);
  if (Status status = lister.problems.status(); !status.ok()) return status;
  return FieldSet(fields::node_of(std::move(out)));
}

}  // namespace BACKPLANE_API
