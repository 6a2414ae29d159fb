// metav1.Table: columns and rows as text, made object by object.
//
// Thread-safety: pure functions; the convertor is const.
#pragma once

#include <cstdint>
#include <string>

#include "backplane/core/object.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/table.hpp"
#include "endpoints/negotiation.hpp"

namespace backplane::endpoints {

// The object of a row (the includeObject parameter).
enum class RowObject : unsigned char { kNone, kMetadata, kObject };

struct TableForm {
  const TableConvertor* convertor = nullptr;
  RowObject include = RowObject::kMetadata;
  Presentation presentation;
  std::int64_t now_unix = 0;
};

// Errors: 400 for an unknown includeObject.
Result<TableForm> table_form(const Query& query, const MediaType& media, const TableConvertor& convertor, const Schema* schema);

// [{"name":…},…]
void append_columns(std::string& out, const TableConvertor& convertor);
// {"cells":[…],"object":{…}}
void append_row(std::string& out, const ObjectEntry& entry, const TableForm& form);
// A whole table with one row; `columns`: false leaves them null, as watches do after their first event.
void append_object_table(std::string& out, const ObjectEntry& entry, const TableForm& form, bool columns);

}  // namespace backplane::endpoints
