// Converts a PluginSnapshot to JSON and back.
#include "backplane/core/json_access.hpp"
#include "backplane/kit/table.hpp"
#include "plugin/group_snapshot.hpp"

namespace backplane {
namespace {

constexpr std::string_view kDocumentKind = "PluginGroups", kDocumentVersion = "plugins.backplane.dev/v1alpha1";

// Functions of columns that the host has itself, and their names in the document.
struct Printer {
  std::string_view name;
  PrintFound print;
};
constexpr Printer kPrinters[] = {
    {"number", kit::show_number}, {"age", kit::show_age}, {"labels", kit::show_labels}, {"selector", kit::show_selector}};

Array texts(const std::vector<std::string>& all) {
  Array out;
  for (const auto& each : all) out.emplace_back(each);
  return out;
}

Object kind_to_json(const GroupVersionKind& kind) { return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}; }
GroupVersionKind kind_from_json(const Object& object) {
  return {std::string(get_string(object, "group")), std::string(get_string(object, "version")), std::string(get_string(object, "kind"))};
}

Object column_to_json(const TableColumn& column) {
  Object out{{"name", column.name}, {"type", column.type}, {"description", column.description}, {"path", column.path}};
  if (!column.format.empty()) out["format"] = column.format;
  if (column.priority != 0) out["priority"] = column.priority;
  if (!column.fallbacks.empty()) out["fallbacks"] = texts(column.fallbacks);
  if (column.join) out["join"] = *column.join;
  if (!column.absent.is_null()) out["absent"] = column.absent;
  if (column.absent_if_empty) out["absentIfEmpty"] = true;
  for (const Printer& printer : kPrinters) {
    if (column.print == printer.print) out["print"] = printer.name;
  }
  return out;
}

TableColumn column_from_json(const Object& object) {
  TableColumn out;
  out.name = get_string(object, "name");
  out.type = get_string(object, "type");
  out.description = get_string(object, "description");
  out.path = get_string(object, "path");
  out.format = get_string(object, "format");
  out.priority = static_cast<int>(get_int(object, "priority").value_or(0));
  out.fallbacks = texts_of(object, "fallbacks");
  if (object.contains("join")) out.join = std::string(get_string(object, "join"));
  if (const Value* absent = find(object, "absent")) out.absent = *absent;
  out.absent_if_empty = get_bool(object, "absentIfEmpty").value_or(false);
  for (const Printer& printer : kPrinters) {
    if (get_string(object, "print") == printer.name) out.print = printer.print;
  }
  return out;
}

Object field_to_json(const SelectableField& field) {
  return {{"label", field.label}, {"path", field.path}, {"defaultValue", field.default_value}};
}
SelectableField field_from_json(const Object& object) {
  return {std::string(get_string(object, "label")), std::string(get_string(object, "path")),
          std::string(get_string(object, "defaultValue"))};
}

Object subresource_to_json(const SubresourceSnapshot& each) {
  return {{"name", each.name},       {"kind", kind_to_json(each.kind)}, {"reads", each.reads},
          {"updates", each.updates}, {"creates", each.creates},         {"methods", texts(each.methods)}};
}
SubresourceSnapshot subresource_from_json(const Object& object) {
  SubresourceSnapshot out;
  out.name = get_string(object, "name");
  out.kind = kind_from_json(object_or_empty(object, "kind"));
  out.reads = get_bool(object, "reads").value_or(false);
  out.updates = get_bool(object, "updates").value_or(false);
  out.creates = get_bool(object, "creates").value_or(false);
  out.methods = texts_of(object, "methods");
  return out;
}

template <class Item, class Print>
Array list_to_json(const std::vector<Item>& items, Print print) {
  Array out;
  for (const Item& item : items) out.emplace_back(print(item));
  return out;
}
template <class Read>
auto list_from_json(const Object& object, std::string_view member, Read read) {
  std::vector<decltype(read(object))> out;
  each(object, member, [&](const Object& item, std::size_t) { out.push_back(read(item)); });
  return out;
}

Object resource_to_json(const KindSnapshot& kind) {
  Object out{{"kind", kind_to_json(kind.kind)},
             {"resource", kind.resource},
             {"singular", kind.singular},
             {"listKind", kind.list_kind},
             {"storagePrefix", kind.storage_prefix},
             {"shortNames", texts(kind.short_names)},
             {"categories", texts(kind.categories)},
             {"namespaced", kind.namespaced},
             {"groupPriority", kind.group_priority},
             {"versionPriority", kind.version_priority},
             {"definition", kind.definition},
             {"schema", kind.schema}};
  out["fields"] = list_to_json(kind.fields, field_to_json);
  out["columns"] = list_to_json(kind.columns, column_to_json);
  out["subresources"] = list_to_json(kind.subresources, subresource_to_json);
  return out;
}

KindSnapshot resource_from_json(const Object& object) {
  KindSnapshot out;
  out.kind = kind_from_json(object_or_empty(object, "kind"));
  out.resource = get_string(object, "resource");
  out.singular = get_string(object, "singular");
  out.list_kind = get_string(object, "listKind");
  out.storage_prefix = get_string(object, "storagePrefix");
  out.short_names = texts_of(object, "shortNames");
  out.categories = texts_of(object, "categories");
  out.namespaced = get_bool(object, "namespaced").value_or(true);
  out.group_priority = static_cast<int>(get_int(object, "groupPriority").value_or(1000));
  out.version_priority = static_cast<int>(get_int(object, "versionPriority").value_or(15));
  out.definition = get_string(object, "definition");
  out.schema = get_string(object, "schema");
  out.fields = list_from_json(object, "fields", field_from_json);
  out.columns = list_from_json(object, "columns", column_from_json);
  out.subresources = list_from_json(object, "subresources", subresource_from_json);
  return out;
}

bool complete(const KindSnapshot& kind) {
  return !kind.kind.kind.empty() && !kind.kind.version.empty() && !kind.resource.empty() && !kind.storage_prefix.empty();
}

}  // namespace

std::string snapshot_to_json(const PluginSnapshot& snapshot) {
  Object out{{"kind", kDocumentKind},
             {"apiVersion", kDocumentVersion},
             {"plugin", snapshot.plugin},
             {"version", snapshot.version},
             {"file", snapshot.file}};
  out["kinds"] = list_to_json(snapshot.kinds, resource_to_json);
  return to_json(out);
}

Result<PluginSnapshot> snapshot_from_json(std::string_view text) {
  boost::system::error_code error;
  const Value value = json::parse(text, error);
  if (error || !value.is_object() || get_string(value.get_object(), "kind") != kDocumentKind) {
    return internal_error("a stored description of plugin groups cannot be read");
  }
  const Object& object = value.get_object();
  PluginSnapshot out;
  out.plugin = get_string(object, "plugin");
  out.version = get_string(object, "version");
  out.file = get_string(object, "file");
  out.kinds = list_from_json(object, "kinds", resource_from_json);
  std::erase_if(out.kinds, [](const KindSnapshot& kind) { return !complete(kind); });
  return out;
}

}  // namespace backplane
