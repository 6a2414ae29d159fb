// Writes metav1.Table as JSON text, one object at a time.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "backplane/core/object.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/table.hpp"
#include "endpoints/negotiation.hpp"

namespace backplane::endpoints {

// How a row contains its object (the parameter includeObject).
enum class RowObject : unsigned char { kNone, kMetadata, kObject };

struct TableForm {
  const TableConvertor* convertor = nullptr;
  RowObject include = RowObject::kMetadata;
  Presentation presentation;
  std::int64_t now_unix = 0;
};

// Errors: 400 for an unknown includeObject.
Result<TableForm> table_form(const Query& query, const MediaType& media, const TableConvertor& convertor, const Schema* schema);

// Appends [{"name":…},…].
void append_columns(std::string& out, const TableConvertor& convertor);
// Appends {"cells":[…],"object":{…}}.
void append_row(std::string& out, const ObjectEntry& entry, const TableForm& form);
// Appends a table that has one row. `columns`: if false, columnDefinitions is null, as in all events of a watch except the first.
void append_object_table(std::string& out, const ObjectEntry& entry, const TableForm& form, bool columns);

}  // namespace backplane::endpoints
