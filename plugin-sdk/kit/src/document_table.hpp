// Table cells of a group document that combine several members, or that have conditional texts.
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

// Parses the path `value`, which is the member `key` of the document.
JsonPath path_of(const Value& value, std::string_view key, const DocumentReader& in);

// One part of a text: the first value at its paths that exists and is not empty, with a text before it and a text after it.
struct CellPart {
  std::vector<JsonPath> paths;
  std::string before, after;
  std::string absent;                     // shown instead of the part, without `before` and `after`, if there is no value
  bool lower = false;                     // convert the value to lower case
  std::map<std::string, std::string> as;  // replacement texts of values; "*": the text for all other values
};

struct DocumentCell {
  struct Instead {
    JsonPath path;
    std::vector<Value> values;  // true: any value, false: no value
    Value shown;
  };
  std::vector<CellPart> parts;
  std::optional<JsonPath> each;  // the parts are evaluated for each item at this path and separated by `join`; nullopt: for the object
  std::string join = ",";
  std::vector<Instead> instead;
  Value absent;

  // Reads the members "parts", "each", "join" and "instead" of a column. Returns nullopt if the column has none of them.
  static std::optional<DocumentCell> read(DocumentReader& in);
  // Returns the cell; nullopt if the cell keeps the value of the column.
  std::optional<Value> show(const Object& object) const;
};

// Returns a table of columns; `cells` replace cells of the columns with these indexes.  `rows_by`: the path of the number by which rows are
// sorted; nullopt: rows have the order of the list.
std::shared_ptr<const TableConvertor> document_table(std::vector<TableColumn> columns, PrintConditions conditions,
                                                     std::map<std::size_t, DocumentCell> cells, std::optional<JsonPath> rows_by);

}  // namespace backplane::kit::documents
