// Checks the documents of a plugin without running its code: schema documents (docs/schema-words.md) and group documents
// (backplane/kit/group_document.hpp). backplane_add_plugin() checks them when the plugin is built, `backplane plugin check` checks them at
// any other time.
//
// Thread-safety: pure functions.
// Errors:        every problem, in the order of the documents; only the first problem of a group document.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A file of backplane_add_plugin(… SCHEMAS).
struct CarriedDocument {
  std::string name;  // "greetings.json"
  std::string text;
};

struct DocumentProblem {
  std::string document;
  std::size_t line = 1;
  std::string pointer;  // RFC 6901: "/definitions/com.example.v1.Thing/properties/spec"
  std::string message;
  bool is_note = false;  // a note, not an error
};

// Returns the problem of a group document with its position ("kinds[0].columns[1].type must be …"); empty if the document is valid
// (kit::problem_of_group).
using GroupCheck = std::function<std::string(const Value& document)>;

// `documents` are those of one plugin: they may refer to each other, to the meta types and to the types of the core group.
std::vector<DocumentProblem> check_documents(std::span<const CarriedDocument> documents, const GroupCheck& check_group);
// "greetings.json:12: /definitions/…: …"
std::string to_line(const DocumentProblem& problem);

}  // namespace BACKPLANE_API
