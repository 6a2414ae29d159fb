// Removes fields from objects, or extracts them (upstream: removeItemsWithSchema).
#include "engine/object_fields.hpp"
#include "fields/code.hpp"
#include "fields/items.hpp"
#include "fields/node.hpp"

namespace backplane::fields {
namespace {

class Cutter {
 public:
  Cutter(bool extract, json::storage_ptr storage) : extract_(extract), storage_(std::move(storage)) {}

  // `node`: null if the set names nothing in the value.
  Value cut(const TypeRef& type, const Value& value, const Node* node) const {
    if (node == nullptr && !extract_) return Value(value, storage_);
    const Form form = narrowed(form_of(type), &value);
    if (form.map != nullptr) {
      if (!value.is_object()) return Value(storage_);
      if (value.get_object().empty() || form.map_atomic) return whole(value);
      Object out = members(*form.map, value.get_object(), node);
      return out.empty() ? Value(storage_) : Value(std::move(out));
    }
    if (form.scalar != Scalar::kNone) return Value(value, storage_);
    if (form.list == nullptr || !value.is_array()) return Value(storage_);
    if (value.get_array().empty() || form.list_atomic) return whole(value);
    Array out = items(*form.list, value.get_array(), node);
    return out.empty() ? Value(storage_) : Value(std::move(out));
  }

  Object members(const MapForm& form, const Object& object, const Node* node) const {
    Object out(storage_);
    out.reserve(object.size());
    std::size_t hint = 0;
    for (const auto& member : object) {
      const Entry* entry = node == nullptr ? nullptr : node->find(PathElement::field(member.key()));
      if (entry == nullptr) {
        if (!extract_) out.emplace(member.key(), member.value());
        continue;
      }
      const MapForm::Field* field = form.find(member.key(), hint);
      const TypeRef& type = field == nullptr ? form.elements : field->type;
      if (!entry->member)
        out.emplace(member.key(), cut(type, member.value(), entry->below.get()));
      else if (extract_)
        // As upstream, continues with the set of the enclosing value here.
        out.emplace(member.key(), cut(type, member.value(), node));
    }
    return out;
  }

 private:
  // Empty and atomic values are removed completely or not at all.
  Value whole(const Value& value) const { return extract_ ? Value(value, storage_) : Value(storage_); }

  Array items(const ListForm& form, const Array& list, const Node* node) const {
    Array out(storage_);
    out.reserve(list.size());
    for (const Value& item : list) {
      const auto element = element_of(form, item, nullptr);
      const Entry* entry = element && node != nullptr ? node->find(*element) : nullptr;
      if (entry == nullptr) {
        if (!extract_) out.emplace_back(item);
        continue;
      }
      if (entry->member && !extract_) continue;
      if (entry->below)
        out.push_back(cut(form.items, item, entry->below.get()));
      else
        out.emplace_back(item);
    }
    return out;
  }

  bool extract_;
  json::storage_ptr storage_;
};

Object cut_object(const Schema* type, const Object& object, const FieldSet& fields, bool extract, json::storage_ptr storage) {
  const Form form = form_of(root_type(type));
  if (form.map == nullptr || form.map_atomic) return extract ? Object(object, storage) : Object(storage);
  return Cutter(extract, storage).members(*form.map, object, fields.root().get());
}

// The key members of the object's items that are on a path of the set.
FieldSet list_keys_on_paths(const FieldSet& there, const FieldSet& wanted) {
  FieldSet out;
  wanted.for_each([&](std::span<const PathElement> path) {
    if (!there.has(path)) return;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i].kind() != PathElement::Kind::kKey) continue;
      CodeReader reader(path[i].code().substr(1));
      while (reader.next_member()) {
        FieldPath key(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        key.push_back(PathElement::field(reader.text()));
        out.insert(key);
        reader.skip_value();
      }
    }
  });
  return out;
}

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

Object remove_fields(const Schema* type, const Object& object, const FieldSet& fields, json::storage_ptr storage) {
  return fields::cut_object(type, object, fields, false, std::move(storage));
}

Object extract_fields(const Schema* type, const Object& object, const FieldSet& fields, bool with_keys, json::storage_ptr storage) {
  if (!with_keys) return fields::cut_object(type, object, fields, true, std::move(storage));
  const auto there = fields_of(type, object);
  const FieldSet keys = there.ok() ? fields::list_keys_on_paths(*there, fields) : FieldSet();
  return fields::cut_object(type, object, fields.unite(keys), true, std::move(storage));
}

}  // namespace BACKPLANE_API
