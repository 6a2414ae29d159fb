#include "endpoints/table_rows.hpp"

#include <chrono>

#include "endpoints/json_scan.hpp"

namespace backplane::endpoints {
namespace {

// Most objects fit into the block on the stack. The rest of a larger object is allocated on the heap.
constexpr std::size_t kRowArenaBytes = 16 * 1024;

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  if (out.back() != '{') out.push_back(',');
  out.append("\"").append(key).append("\":");
  append_json_string(out, text);
}

void append_array(std::string& out, const Array& items) {
  out.push_back('[');
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_json(out, items[i]);
  }
  out.push_back(']');
}

// Appends the convertor's cells for one object, and its conditions if it has any.
void append_printed(std::string& out, const ObjectEntry& entry, const TableForm& form) {
  unsigned char block[kRowArenaBytes];
  json::monotonic_resource arena(block, sizeof block);
  const Object object = decode(entry, &arena);
  out.append("\"cells\":");
  append_array(out, form.convertor->cells(object, form.now_unix, &arena));
  const Array conditions = form.convertor->conditions(object, &arena);
  if (conditions.empty()) return;
  out.append(",\"conditions\":");
  append_array(out, conditions);
}

}  // namespace

Result<TableForm> table_form(const Query& query, const MediaType& media, const TableConvertor& convertor, const Schema* schema) {
  TableForm form;
  form.convertor = &convertor;
  form.presentation = {schema, true, media.beta};
  form.now_unix = unix_now();
  const std::string_view include = query_get(query, "includeObject");
  if (include == "None") {
    form.include = RowObject::kNone;
  } else if (include == "Object") {
    form.include = RowObject::kObject;
  } else if (!include.empty() && include != "Metadata") {
    return bad_request("Unable to convert to Table as requested: includeObject: Invalid value: " + quoted(include) +
                       ": must be 'Metadata', 'Object', 'None', or empty");
  }
  return form;
}

void append_columns(std::string& out, const TableConvertor& convertor) {
  out.push_back('[');
  for (const TableColumn& column : convertor.columns()) {
    if (out.back() != '[') out.push_back(',');
    out.push_back('{');
    append_member(out, "name", column.name);
    append_member(out, "type", column.type);
    append_member(out, "format", column.format);
    append_member(out, "description", column.description);
    out.append(",\"priority\":").append(std::to_string(column.priority)).push_back('}');
  }
  out.push_back(']');
}

void append_row(std::string& out, const ObjectEntry& entry, const TableForm& form) {
  out.push_back('{');
  append_printed(out, entry, form);
  out.append(",\"object\":");
  switch (form.include) {
    case RowObject::kNone:
      out.append("null");
      break;
    case RowObject::kMetadata:
      append_metadata_json(out, entry, form.presentation);
      break;
    case RowObject::kObject:
      out.append(entry.json().view());
      break;
  }
  out.push_back('}');
}

void append_object_table(std::string& out, const ObjectEntry& entry, const TableForm& form, bool columns) {
  out.append(R"({"kind":"Table","apiVersion":")").append(form.presentation.meta_version()).append(R"(","metadata":{)");
  const SharedBytes json = entry.json();
  const std::string_view version = raw_member(raw_member(json.view(), "metadata"), "resourceVersion");
  if (!version.empty()) out.append("\"resourceVersion\":").append(version);
  out.append("},\"columnDefinitions\":");
  if (columns) {
    append_columns(out, *form.convertor);
  } else {
    out.append("null");
  }
  out.append(",\"rows\":[");
  append_row(out, entry, form);
  out.append("]}");
}

}  // namespace backplane::endpoints
