// Indexes a schema document: its definitions with their forms and kinds.
#pragma once

#include <string_view>

#include "schema/type.hpp"

namespace backplane::schema {

// The top-level keywords of a schema object that decide its form.
struct Outline {
  std::string_view type, format, backplane_type;
  bool properties = false;
  bool additional = false;  // additionalProperties is a schema
  bool shape = false;
  bool int_or_string = false;
};

// Returns false if the keywords contradict each other; `form` is then unset.
bool form_of(const Outline& outline, bool structural, Form& form) noexcept;

class Indexer {
 public:
  explicit Indexer(SchemaSet::State& state) noexcept : state_(state) {}

  // Adds the definitions of `document`, whose text lives as long as the set.  `number` counts documents from 1, for messages.
  Status add(std::string_view document, std::size_t number);

 private:
  struct Definition {
    std::string_view name, text, kinds;
    Outline outline;
  };
  Status add_definition(const Definition& definition, const std::string& where);

  SchemaSet::State& state_;
};

}  // namespace backplane::schema
