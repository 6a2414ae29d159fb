// Makes the Body of a definition from its text.
//
// Errors: a malformed definition gives a body whose `error` names the definition and the path in it.
#pragma once

#include <string>

#include "schema/type.hpp"

namespace backplane::schema {

// The caller holds the set's lock.
class Compiler {
 public:
  explicit Compiler(SchemaSet::State& state) noexcept : state_(state) {}

  std::unique_ptr<Body> compile_definition(const Type& type);

 private:
  void fill(Body& body, Form form, const Object& schema, const std::string& path);
  void fill_properties(Body& body, const Object& properties, const std::string& path);
  void add_inlined(Body& body, std::string_view name, const Type& target, std::uint32_t proto);
  void fill_shape(Body& body, const Object& shape, const Object* numbers, const std::string& path);
  Property make_property(std::string_view name, const Object& schema, const std::string& path);
  // The type of a schema object inside a definition: a shared scalar, a definition, or a new inner type.  Never null.
  const Type* type_of(const Value& schema, const std::string& path);
  const Type* referred(std::string_view reference, const std::string& path);
  const Type* plain(Form form, std::string_view go_type);
  const Type* inner(Form form, const Object& schema, const std::string& path);
  void fail(const std::string& path, std::string_view what);

  // Typed mode: rules.cpp.
  const Rules* rules_of(const Object& schema, const std::string& path);
  void read_rules(const Object& words, const Object& schema, const std::string& path, Rules& out);
  void read_rule_list(const Value& value, const Object& schema, const std::string& path, Rules& out);
  const ConditionalDefault* conditional_default_of(const Object& schema, const std::string& path);
  const Derived* derived_of(const Object& schema);
  const Gated* gated_of(const Object& schema, const std::string& path);
  const StructRules* struct_rules_of(const Object& schema, const std::string& path);

  // Structural mode: constraints.cpp.
  std::unique_ptr<const Constraints> constraints_of(const Object& schema, const std::string& path);
  void read_bounds(Constraints& out, const Object& schema);
  void read_extensions(Constraints& out, const Object& schema);
  void read_logic(Constraints& out, const Object& schema, const std::string& path);

  SchemaSet::State& state_;
  std::string error_;
};

}  // namespace backplane::schema
