// Columns of built-in kinds, as data, and the words that their cells share.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/text.hpp"
#include "backplane/rest/table.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The columns that many tables share.
TableColumn name_column();
TableColumn age_column();

// ---- what values are shown as
Value show_number(const Value* found, std::int64_t now_unix);    // the number, or 0
Value show_age(const Value* found, std::int64_t now_unix);       // of a time; <unknown>
Value show_labels(const Value* found, std::int64_t now_unix);    // "a=b,c=d" or <none>
Value show_selector(const Value* found, std::int64_t now_unix);  // a metav1.LabelSelector; <none> when empty

// The number of entries of data and binaryData together.
void print_entries(const Object& object, std::int64_t now_unix, Array& cells);

std::string age_of(const Object& object, std::int64_t now_unix);
// "a=b,c=d" or <none>.
std::string print_labels(const Object* labels);
// A metav1.LabelSelector as kubectl shows it: "app=d,tier in (a)", <none> when empty.
std::string print_selector(const Object* selector);

}  // namespace BACKPLANE_API
}  // namespace backplane
