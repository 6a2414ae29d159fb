// The checks of one document.
//
// Thread-safety: used on one thread.
#pragma once

#include <functional>
#include <string>

#include "backplane/types/schema.hpp"
#include "documents/json_pointer.hpp"
#include "engine/document_check.hpp"

namespace backplane::documents {

// Receives a problem at a position of the document.
using Report = std::function<void(const Pointer& pointer, std::string message)>;

// Checks the keywords of every schema of a schema document, and their values.
void check_words(const Object& document, const Report& report);
// Checks a group document against `types`: kinds without a type, columns with an unknown path.
void check_kinds(const Object& document, const std::function<const Schema*(const GroupVersionKind&)>& type_of, const Report& report);

}  // namespace backplane::documents
