#include "document_table.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::kit::documents {

JsonPath path_of(const Value& value, std::string_view key, const DocumentReader& in) {
  auto path = JsonPath::parse(text_of(value));
  in.expect(path.has_value() && !text_of(value).empty(), key, "a path");
  return std::move(*path);
}

namespace {

bool is_nothing(const Value* value) { return is_unset(value) || (value->is_bool() && !value->get_bool()); }

CellPart part_of(const Value& value, std::string place) {
  DocumentReader in(value, std::move(place));
  CellPart out;
  const Value* path = in.take("path");
  in.expect(path != nullptr, "path", "there");
  for (const Value& each : path->is_array() ? path->get_array() : Array{*path}) out.paths.push_back(path_of(each, "path", in));
  in.text("before", out.before);
  in.text("after", out.after);
  in.text("absent", out.absent);
  in.flag("lower", out.lower);
  if (const Value* as = in.take("as")) {
    in.expect(as->is_object(), "as", "an object");
    for (const auto& row : as->get_object()) out.as[row.key()] = std::string(text_of(row.value()));
  }
  in.refuse_others();
  return out;
}

DocumentCell::Instead instead_of(const Value& value, std::string place) {
  DocumentReader in(value, std::move(place));
  const Value* when = in.take("when");
  in.expect(when != nullptr && when->is_object() && when->get_object().size() == 1, "when", "a path and its value or values");
  const auto& condition = *when->get_object().begin();
  DocumentCell::Instead out{path_of(Value(condition.key()), "when", in), {}, {}};
  const Value& wanted = condition.value();
  for (const Value& each : wanted.is_array() ? wanted.get_array() : Array{wanted}) out.values.push_back(each);
  const Value* shown = in.take("show");
  in.expect(shown != nullptr, "show", "there");
  out.shown = *shown;
  in.refuse_others();
  return out;
}

template <class Around>
std::string shown_part(const CellPart& part, const Around& around) {
  const Value* found = nullptr;
  for (const JsonPath& path : part.paths) {
    found = path.first(around);
    if (!is_nothing(found)) break;
  }
  if (is_nothing(found)) return part.absent;
  std::string text = found->is_string() ? std::string(text_of(*found)) : to_json(*found);
  if (!part.as.empty()) {
    auto row = part.as.find(text);
    if (row == part.as.end()) row = part.as.find("*");
    if (row != part.as.end()) text = row->second;
  }
  return part.before + (part.lower ? lower_case(text) : text) + part.after;
}

template <class Around>
std::string shown_parts(const std::vector<CellPart>& parts, const Around& around) {
  std::string out;
  for (const CellPart& part : parts) out += shown_part(part, around);
  return out;
}

class DocumentTable : public TableConvertor {
 public:
  DocumentTable(std::vector<TableColumn> columns, PrintConditions conditions, std::map<std::size_t, DocumentCell> cells)
      : plain_(std::move(columns), conditions), cells_(std::move(cells)) {}
  const std::vector<TableColumn>& columns() const override { return plain_.columns(); }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override {
    Array out = plain_.cells(object, now_unix, storage);
    for (const auto& [column, cell] : cells_) {
      if (auto shown = cell.show(object)) out[column] = Value(*shown, storage);
    }
    return out;
  }
  Array conditions(const Object& object, json::storage_ptr storage) const override { return plain_.conditions(object, std::move(storage)); }

 private:
  ColumnTable plain_;
  std::map<std::size_t, DocumentCell> cells_;
};

class SortedDocumentTable final : public DocumentTable {
 public:
  SortedDocumentTable(DocumentTable table, JsonPath rows_by) : DocumentTable(std::move(table)), rows_by_(std::move(rows_by)) {}
  bool sorts_rows() const noexcept override { return true; }
  std::int64_t row_position(const Object& object) const override {
    const Value* found = rows_by_.first(object);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
  }

 private:
  JsonPath rows_by_;
};

}  // namespace

std::optional<DocumentCell> DocumentCell::read(DocumentReader& in) {
  DocumentCell out;
  const Array& parts = in.list("parts");
  for (std::size_t i = 0; i < parts.size(); ++i) out.parts.push_back(part_of(parts[i], at(in.path_of("parts"), i)));
  const Array& rows = in.list("instead");
  for (std::size_t i = 0; i < rows.size(); ++i) out.instead.push_back(instead_of(rows[i], at(in.path_of("instead"), i)));
  if (out.parts.empty() && out.instead.empty()) return std::nullopt;
  if (out.parts.empty()) return out;
  if (const Value* each = in.take("each")) out.each = path_of(*each, "each", in);
  in.text("join", out.join);
  if (const Value* absent = in.take("absent")) out.absent = *absent;
  return out;
}

std::optional<Value> DocumentCell::show(const Object& object) const {
  for (const Instead& row : instead) {
    const Value* found = row.path.first(object);
    const bool holds = std::any_of(row.values.begin(), row.values.end(), [&](const Value& wanted) {
      return wanted.is_bool() ? wanted.get_bool() != is_nothing(found) : found != nullptr && *found == wanted;
    });
    if (holds) return row.shown;
  }
  if (parts.empty()) return std::nullopt;
  std::string text;
  if (!each) text = shown_parts(parts, object);
  if (each) {
    each->each(object, [&](const Value& item) {
      if (!text.empty()) text += join;
      text += shown_parts(parts, item);
      return false;
    });
  }
  return text.empty() && !absent.is_null() ? absent : Value(text);
}

std::shared_ptr<const TableConvertor> document_table(std::vector<TableColumn> columns, PrintConditions conditions,
                                                     std::map<std::size_t, DocumentCell> cells, std::optional<JsonPath> rows_by) {
  DocumentTable table(std::move(columns), conditions, std::move(cells));
  if (rows_by) return std::make_shared<SortedDocumentTable>(std::move(table), std::move(*rows_by));
  return std::make_shared<DocumentTable>(std::move(table));
}

}  // namespace backplane::kit::documents
