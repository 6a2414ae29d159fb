// Columns and cell formats shared by many tables.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/text.hpp"
#include "backplane/rest/table.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The columns Name and Age.
TableColumn name_column();
TableColumn age_column();

// ---- functions for TableColumn::print
Value show_number(const Value* found, std::int64_t now_unix);    // the number; 0 if it is absent
Value show_age(const Value* found, std::int64_t now_unix);       // the age of a time; <unknown> if it is absent
Value show_labels(const Value* found, std::int64_t now_unix);    // "a=b,c=d", or <none>
Value show_selector(const Value* found, std::int64_t now_unix);  // a metav1.LabelSelector; <none> if empty

// Appends the number of entries in data and binaryData (ConfigMap, Secret).
void print_entries(const Object& object, std::int64_t now_unix, Array& cells);

// Returns the age of the object, from metadata.creationTimestamp.
std::string age_of(const Object& object, std::int64_t now_unix);
// Returns "a=b,c=d", or <none> for null or empty labels.
std::string print_labels(const Object* labels);
// Returns a metav1.LabelSelector as kubectl prints it: "app=d,tier in (a)"; <none> if it is empty.
std::string print_selector(const Object* selector);

}  // namespace BACKPLANE_API
}  // namespace backplane
