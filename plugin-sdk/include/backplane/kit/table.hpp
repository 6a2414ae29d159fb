// Tables of kinds: columns beside a plain function that prints one object's cells.
//
// Thread-safety: const after construction; any thread.
#pragma once

#include <string>
#include <vector>

#include "backplane/table.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Appends the cells of one object.
using PrintCells = void (*)(const Object& object, std::int64_t now_unix, Array& cells);
// Appends the row's conditions.
using PrintConditions = void (*)(const Object& object, Array& conditions);

class PrintedTable final : public TableConvertor {
 public:
  PrintedTable(std::vector<TableColumn> columns, PrintCells print, PrintConditions conditions = nullptr)
      : columns_(std::move(columns)), print_(print), print_conditions_(conditions) {}
  const std::vector<TableColumn>& columns() const override { return columns_; }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override {
    Array out(std::move(storage));
    out.reserve(columns_.size());
    print_(object, now_unix, out);
    return out;
  }
  Array conditions(const Object& object, json::storage_ptr storage) const override {
    Array out(std::move(storage));
    if (print_conditions_ != nullptr) print_conditions_(object, out);
    return out;
  }

 private:
  std::vector<TableColumn> columns_;
  PrintCells print_;
  PrintConditions print_conditions_;
};

// The columns that many tables share.
TableColumn name_column();
TableColumn age_column();
TableColumn text_column(std::string name, std::string description, int priority = 0);
TableColumn number_column(std::string name, std::string description, int priority = 0);

std::string age_of(const Object& object, std::int64_t now_unix);
// "a=b,c=d" or <none>.
std::string print_labels(const Object* labels);
// A metav1.LabelSelector as kubectl shows it: "app=d,tier in (a)", <none> when empty.
std::string print_selector(const Object* selector);
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",");

}  // namespace BACKPLANE_API
}  // namespace backplane
