// The contents of an environment: names, functions, rules.
//
// Thread-safety: immutable once made.
// Lifetime:      shared; programs keep their environment.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/types/cel.hpp"
#include "cel/parser.hpp"
#include "cel/types.hpp"

namespace backplane::cel {

struct Environment::State {
  EnvironmentOptions options;
  mutable cel_detail::TypeArena arena;  // filled while the environment is made
  std::map<std::string, const cel_detail::Type*, std::less<>> variables;
  std::map<std::string, const cel_detail::Type*, std::less<>> types;  // the type that a name denotes, by that name
  cel_detail::Syntax syntax;
  std::vector<bool> enabled;       // by index of overload
  bool cross_types = false;        // numbers of different types can be compared
  bool keyword_fields = false;     // object.namespace is an alias of object.__namespace__
  bool checks_literals = false;    // durations, times, patterns, arguments of format
  bool one_type_literals = false;  // list and map literals must have one element type

  bool has(const cel_detail::Overload& overload) const { return enabled[overload.index]; }
};

}  // namespace backplane::cel

namespace backplane::cel_detail {

using cel::Environment;

// The candidates for a name, in order: with container a.b, "a.b.name", "a.name", "name"; ".name" means itself.
std::vector<std::string> candidate_names(std::string_view container, std::string_view name);

// A field of a message: of a schema's type, or of a well-known type of protobuf.
struct FieldLookup {
  bool known_struct = false;
  const Type* type = nullptr;  // null: there is no such field
};
FieldLookup find_field(const Environment::State& environment, TypeArena& arena, std::string_view struct_name, const DeclType* decl,
                       std::string_view field);
// google.protobuf.Int64Value and the like; null: none of these.
const Type* well_known_type(std::string_view name);
// The message name for the look-up of fields; empty: the type is no message.
std::string_view message_name(const Type& type);
// Object, Object.spec and JSONPatch of mutating policies; null: none of these.
const Type* patch_type(const Environment::State& environment, TypeArena& arena, std::string_view name);

}  // namespace backplane::cel_detail
