// Cells of a group's document that are put together of several members, or shown as something else under conditions.
//
// Thread-safety: immutable once made.
// Errors:        what cannot be read throws std::invalid_argument with the place (DocumentReader).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/rest/table.hpp"
#include "document_reader.hpp"

namespace backplane::kit::documents {

// The word `key`, a path.
JsonPath path_of(const Value& value, std::string_view key, const DocumentReader& in);

// One piece of a text: the first thing at its paths that is there and not empty, between two texts.
struct CellPart {
  std::vector<JsonPath> paths;
  std::string before, after;
  std::string absent;                     // where nothing is there, alone
  bool lower = false;                     // in lower case
  std::map<std::string, std::string> as;  // what values are shown as; "*": all others
};

struct DocumentCell {
  struct Instead {
    JsonPath path;
    std::vector<Value> values;  // true: anything but nothing, false: nothing
    Value shown;
  };
  std::vector<CellPart> parts;
  std::optional<JsonPath> each;  // the parts of each of these, with `join` between; none: of the object
  std::string join = ",";
  std::vector<Instead> instead;
  Value absent;

  // Takes the words "parts", "each", "join" and "instead" of a column; nothing when it has none of them.
  static std::optional<DocumentCell> read(DocumentReader& in);
  // Nothing: the cell stays as the column has it.
  std::optional<Value> show(const Object& object) const;
};

// A table of columns, with such cells by column.  `rows_by`: the number that rows are sorted by; none: they stand as the list does.
std::shared_ptr<const TableConvertor> document_table(std::vector<TableColumn> columns, PrintConditions conditions,
                                                     std::map<std::size_t, DocumentCell> cells, std::optional<JsonPath> rows_by);

}  // namespace backplane::kit::documents
