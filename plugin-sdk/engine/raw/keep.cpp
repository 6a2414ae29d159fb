// Finds the raw values of a text by its type, and puts them into its tree at the same positions.
#include <algorithm>

#include "backplane/types/json_reading.hpp"
#include "engine/raw_json.hpp"
#include "schema/scan.hpp"
#include "schema/type.hpp"

namespace backplane BACKPLANE_API {
namespace {

using schema::Form;
using schema::Scanner;
using schema::Type;

const Type* typed(const Schema* schema) {
  const auto* type = schema != nullptr ? schema->compiled() : nullptr;
  return type != nullptr && !type->structural() ? type : nullptr;
}

bool leads_to_raw(const Type& type) { return type.form() == Form::kRawExtension || type.raw_within(); }

std::string name_of(std::string_view raw_key) {
  std::string name;
  append_json_unescaped(name, raw_key);
  return name;
}

void keep(const Type& type, Value& tree, std::string_view text);

void keep_members(const Type& type, Object& object, std::string_view text) {
  const schema::Body& body = type.body();
  Scanner scanner(text);
  std::string_view raw_key;
  if (!scanner.enter('{')) return;
  while (scanner.next_key(raw_key)) {
    const std::string_view value = scanner.value();
    const std::string name = name_of(raw_key);
    const Type* of_member = body.items;
    if (type.form() == Form::kStruct) {
      const int index = body.find(name, 0);
      of_member = index < 0 ? nullptr : body.properties[static_cast<std::size_t>(index)].type;
    }
    if (of_member == nullptr || !leads_to_raw(*of_member)) continue;
    if (Value* member = find(object, name)) keep(*of_member, *member, value);
  }
}

void keep_items(const Type& items, Array& array, std::string_view text) {
  Scanner scanner(text);
  if (!scanner.enter('[')) return;
  for (std::size_t i = 0; i < array.size() && scanner.next_item(); ++i) keep(items, array[i], scanner.value());
}

void keep(const Type& type, Value& tree, std::string_view text) {
  if (text == "null") return;
  if (type.form() == Form::kRawExtension) {
    tree = make_raw(text, tree.storage());
  } else if (tree.is_object() && (type.form() == Form::kStruct || type.form() == Form::kMap)) {
    keep_members(type, tree.get_object(), text);
  } else if (tree.is_array() && type.form() == Form::kList && type.body().items != nullptr) {
    keep_items(*type.body().items, tree.get_array(), text);
  }
}

// The type at a JSON pointer; the type of raw values for positions inside one; or null.
const Type* type_at(const Type& root, std::string_view pointer) {
  const Type* type = &root;
  while (type != nullptr && !pointer.empty() && type->form() != Form::kRawExtension) {
    const auto end = std::min(pointer.find('/', 1), pointer.size());
    const schema::Body& body = type->body();
    const int index = type->form() == Form::kStruct ? body.find(pointer.substr(1, end - 1), 0) : -1;
    type = type->form() != Form::kStruct ? body.items : index < 0 ? nullptr : body.properties[static_cast<std::size_t>(index)].type;
    pointer.remove_prefix(end);
  }
  return type != nullptr && leads_to_raw(*type) ? type : nullptr;
}

// The last member of that name; empty if there is none.
std::string_view member_of(std::string_view object, std::string_view name) {
  Scanner scanner(object);
  std::string_view key, found;
  if (!scanner.enter('{')) return found;
  while (scanner.next_key(key)) {
    const std::string_view value = scanner.value();
    if (key == name) found = value;
  }
  return found;
}

}  // namespace

bool holds_raw(const Schema* schema) {
  const Type* type = typed(schema);
  return type != nullptr && type->raw_within();
}

void keep_raw(const Schema* schema, Value& tree, std::string_view json) {
  if (holds_raw(schema)) keep(*typed(schema), tree, json);
}

void keep_raw_operations(const Schema* schema, Value& operations, std::string_view json) {
  Scanner list(json);
  if (!holds_raw(schema) || !operations.is_array() || !list.enter('[')) return;
  for (Value& operation : operations.get_array()) {
    if (!list.next_item()) return;
    const std::string_view text = member_of(list.value(), "value");
    Object* members = operation.if_object();
    Value* value = members != nullptr && !text.empty() ? find(*members, "value") : nullptr;
    const Type* type = value != nullptr ? type_at(*typed(schema), get_string(*members, "path")) : nullptr;
    if (type != nullptr) keep(*type, *value, text);
  }
}

Object decode_kept(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage) {
  Object object = decode(entry, std::move(storage));
  if (!holds_raw(schema)) return object;
  Value whole(std::move(object));
  keep_raw(schema, whole, kept_json(entry).view());
  return std::move(whole.get_object());
}

}  // namespace BACKPLANE_API
