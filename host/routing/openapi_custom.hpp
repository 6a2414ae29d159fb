// OpenAPI documents of custom resources, like those of upstream's apiextensions server. The v3 document has the complete schemas. The v2
// document has only the parts that old clients can process.
//
// Thread-safety: pure functions of their arguments.
#pragma once

#include <map>
#include <string>

#include "routing/openapi.hpp"

namespace backplane {

inline constexpr std::string_view kV2Reference = "#/definitions/";
inline constexpr std::string_view kV3Reference = "#/components/schemas/";

// Adapts a definition that SchemaSet::openapi_components() has returned for the kind of a custom resource.
void custom_definition_v3(Object& definition);
void custom_definition_v2(Object& definition);

// The x-kubernetes-selectable-fields of kinds, by the name of the kind's definition.
using SelectableFields = std::map<std::string, Value, std::less<>>;
void note_selectable_fields(std::string_view name, const Object& definition, SelectableFields& fields);

// Writes definitions of the list kinds that the schemas of a version lack: those of custom resources, and of plugins that do not run.
// `prefix`: kV2Reference or kV3Reference.
void undefined_lists(const VersionTable& version, std::string_view prefix, const SelectableFields& fields, DocumentText& text);

}  // namespace backplane
