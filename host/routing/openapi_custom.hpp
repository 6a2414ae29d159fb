// OpenAPI documents of custom resources (the builder of upstream's apiextensions server): v3 has the whole schema, v2 only the parts that
// old clients can read.
//
// Thread-safety: pure functions of the arguments.
#pragma once

#include <map>
#include <string>

#include "routing/openapi.hpp"

namespace backplane {

inline constexpr std::string_view kV2Reference = "#/definitions/";
inline constexpr std::string_view kV3Reference = "#/components/schemas/";

// `definition` is what SchemaSet::openapi_components gives for the kind.
void custom_definition_v3(Object& definition);
void custom_definition_v2(Object& definition);

// Selectable fields of kinds, by the name of their definition.
using SelectableFields = std::map<std::string, Value, std::less<>>;
void note_selectable_fields(std::string_view name, const Object& definition, SelectableFields& fields);

// Writes the definitions of the lists of a version's custom resources; `prefix` is one of the above.
void custom_lists(const VersionTable& version, std::string_view prefix, const SelectableFields& fields, DocumentText& text);

}  // namespace backplane
