// Columns of built-in kinds, as data, and the words that their cells share.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/table.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The columns that many tables share.
TableColumn name_column();
TableColumn age_column();
// A text at a path, "" or `absent` where there is none.
TableColumn text_column(std::string name, std::string description, std::string path, int priority = 0, std::string absent = "");
// A number at a path, 0 where there is none; some kinds show their numbers in columns for texts.
TableColumn number_column(std::string name, std::string description, std::string path, int priority = 0);
TableColumn count_column(std::string name, std::string description, std::string path, int priority = 0);
// What a function makes of the value at a path (any type is shown as it comes), or of the whole object.
TableColumn shown_column(std::string name, std::string description, std::string path, PrintFound print, int priority = 0);
TableColumn computed_column(std::string name, std::string description, PrintCells cells, int priority = 0);
// A column whose cell the function before it has appended.
TableColumn next_column(std::string name, std::string description, int priority = 0);

// ---- what values are shown as
Value show_number(const Value* found, std::int64_t now_unix);    // the number, or 0
Value show_age(const Value* found, std::int64_t now_unix);       // of a time; <unknown>
Value show_labels(const Value* found, std::int64_t now_unix);    // "a=b,c=d" or <none>
Value show_selector(const Value* found, std::int64_t now_unix);  // a metav1.LabelSelector; <none> when empty
Value show_or_none(const Value* found, std::int64_t now_unix);   // the text, or <none>

// The number of entries of data and binaryData together.
void print_entries(const Object& object, std::int64_t now_unix, Array& cells);

std::string age_of(const Object& object, std::int64_t now_unix);
// "a=b,c=d" or <none>.
std::string print_labels(const Object* labels);
// A metav1.LabelSelector as kubectl shows it: "app=d,tier in (a)", <none> when empty.
std::string print_selector(const Object* selector);
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ",");

}  // namespace BACKPLANE_API
}  // namespace backplane
