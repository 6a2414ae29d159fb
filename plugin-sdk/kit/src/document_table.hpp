// Cells of a group's document that combine several members, or have conditional texts.
//
// Thread-safety: immutable once made.
// Errors:        invalid members throw std::invalid_argument with the path (DocumentReader).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/rest/table.hpp"
#include "document_reader.hpp"

namespace backplane::kit::documents {

// The member `key`, a path.
JsonPath path_of(const Value& value, std::string_view key, const DocumentReader& in);

// One piece of a text: the first value at its paths that exists and is not empty, between two texts.
struct CellPart {
  std::vector<JsonPath> paths;
  std::string before, after;
  std::string absent;                     // used alone if there is no value
  bool lower = false;                     // in lower case
  std::map<std::string, std::string> as;  // replacement texts of values; "*": of all other values
};

struct DocumentCell {
  struct Instead {
    JsonPath path;
    std::vector<Value> values;  // true: any value, false: no value
    Value shown;
  };
  std::vector<CellPart> parts;
  std::optional<JsonPath> each;  // the parts of each of these items, separated by `join`; none: of the object
  std::string join = ",";
  std::vector<Instead> instead;
  Value absent;

  // Reads the members "parts", "each", "join" and "instead" of a column; nullopt if the column has none of them.
  static std::optional<DocumentCell> read(DocumentReader& in);
  // nullopt: the cell keeps the column's value.
  std::optional<Value> show(const Object& object) const;
};

// A table of columns, with such cells by column.  `rows_by`: path of the number by which rows are sorted; none: the order of the list.
std::shared_ptr<const TableConvertor> document_table(std::vector<TableColumn> columns, PrintConditions conditions,
                                                     std::map<std::size_t, DocumentCell> cells, std::optional<JsonPath> rows_by);

}  // namespace backplane::kit::documents
