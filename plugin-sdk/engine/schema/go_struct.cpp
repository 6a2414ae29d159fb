// Values printed like kube-apiserver's internal Go structs.
//
// Thread-safety: a layout is made on first use, under its set's lock, and never changes.
#include <map>

#include "schema/type.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kApiPrefix = "io.k8s.api.";

std::string go_name_of(std::string_view json_name, const Object& schema) {
  if (const Value* name = find(schema, "x-backplane-go-name")) return std::string(std::string_view(name->get_string()));
  std::string out(json_name);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

Object source_of(const Type& type) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::system::error_code error;
  const SharedBytes text = type.text();
  Value tree = json::parse(text.view(), error, {}, options);
  return error || !tree.is_object() ? Object() : std::move(tree.get_object());
}

std::string_view inlined(const Object& schema) noexcept {
  const Array* all = get_array(schema, "allOf");
  if (!get_bool(schema, "x-backplane-inline").value_or(false) || all == nullptr || all->empty() || !all->front().is_object()) return {};
  const std::string_view reference = get_string(all->front().get_object(), "$ref");
  return reference.substr(reference.rfind('/') + 1);
}

void add_fields(const Type& holder, const Object& source, GoLayout& out) {
  const Object* properties = get_object(source, "properties");
  if (properties == nullptr) return;
  for (const auto& [key, schema] : *properties) {
    if (!schema.is_object()) continue;
    if (const std::string_view name = inlined(schema.get_object()); !name.empty()) {
      if (const Type* target = holder.set().find_type(name)) add_fields(holder, source_of(*target), out);
      continue;
    }
    const int index = holder.body().find(key, 0);
    if (index < 0) continue;
    const Property& property = holder.body().properties[static_cast<std::size_t>(index)];
    const bool pointer = get_bool(schema.get_object(), "x-backplane-go-pointer").value_or(property.pointer);
    out.push_back({go_name_of(key, schema.get_object()), std::string(key), property.type, pointer});
  }
}

GoLayout ordered(GoLayout fields, const Array& order) {
  GoLayout out;
  for (const Value& item : order) {
    std::string_view name = item.is_string() ? std::string_view(item.get_string()) : std::string_view();
    if (name.starts_with('^')) {
      name.remove_prefix(1);
      const bool pointer = name.starts_with('*');
      if (pointer) name.remove_prefix(1);
      out.push_back({go_name_of(name, Object()), std::string(name), nullptr, pointer});
      continue;
    }
    for (GoField& field : fields) {
      if (field.json_name == name) out.push_back(std::move(field));
    }
  }
  return out;
}

Value print(const Type& type, bool pointer, const Value* value, const Object& around);

Value print_object(const GoLayout& layout, const Object& object, const Object& around) {
  Object out;
  for (const GoField& field : layout) {
    const Value* value = find(field.type == nullptr ? around : object, field.json_name);
    const bool set = value != nullptr && !value->is_null();
    if (field.type == nullptr) {
      out[field.go_name] = set ? *value : field.pointer ? Value(nullptr) : Value(false);
    } else if (!field.go_name.empty()) {
      out[field.go_name] = print(*field.type, field.pointer, value, object);
    } else if (set && value->is_object()) {
      for (const auto& member : value->get_object()) out[member.key()] = member.value();
    }
  }
  return out;
}

Value print_list(const Type& type, const Value* value, const Object& around) {
  if (value == nullptr || !value->is_array() || type.body().items == nullptr) return nullptr;
  Array out;
  for (const Value& item : value->get_array()) out.push_back(print(*type.body().items, false, &item, around));
  return out;
}

Value print_map(const Type& type, const Value* value, const Object& around) {
  if (value == nullptr || !value->is_object() || type.body().items == nullptr) return nullptr;
  std::map<std::string_view, const Value*> sorted;
  for (const auto& member : value->get_object()) sorted.emplace(member.key(), &member.value());
  Object out;
  for (const auto& [key, item] : sorted) out[key] = print(*type.body().items, false, item, around);
  return out;
}

// The zero value of a field.
Value zero(Form form) {
  switch (form) {
    case Form::kString:
      return "";
    case Form::kBool:
      return false;
    case Form::kQuantity:
      return "0";
    case Form::kInt32:
    case Form::kInt64:
    case Form::kDouble:
    case Form::kIntOrString:
      return 0;
    default:
      return nullptr;
  }
}

Value print(const Type& type, bool pointer, const Value* value, const Object& around) {
  static const Object kEmpty;
  if (type.form() == Form::kList) return print_list(type, value, around);
  if (type.form() == Form::kMap) return print_map(type, value, around);
  const bool set = value != nullptr && !value->is_null();
  if (!set && pointer) return nullptr;
  if (has_own_struct(type)) return print_object(type.go_layout(), set && value->is_object() ? value->get_object() : kEmpty, around);
  return set ? *value : zero(type.form());
}

}  // namespace

bool has_own_struct(const Type& type) noexcept { return type.form() == Form::kStruct && type.name().starts_with(kApiPrefix); }

const GoLayout& Type::go_layout() const {
  const std::lock_guard lock(set_->mutex);
  auto& slot = set_->go_layouts[this];
  if (slot == nullptr) {
    const Object source = source_of(*this);
    GoLayout fields;
    add_fields(*this, source, fields);
    if (const Array* order = get_array(source, "x-backplane-go-order")) fields = ordered(std::move(fields), *order);
    slot = std::make_unique<const GoLayout>(std::move(fields));
  }
  return *slot;
}

Value Type::go_struct(const Object& object) const {
  if (structural() || form_ != Form::kStruct) return object;
  return print_object(go_layout(), object, object);
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

Value Schema::go_struct(const Object& object) const { return object; }

}  // namespace BACKPLANE_API
