// Rules of several fields that the group's kinds share.
//
// Thread-safety: pure functions.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/kind_row.hpp"
#include "backplane/types/cel_policy.hpp"

namespace backplane::admissionregistration {

// Versions and resources of each of a list of rules; `path` is the list's.
void check_operation_rules(const Object& holder, std::string_view key, const std::string& path, FieldErrors& errors);
// Operations that a mutating policy cannot have.
void check_mutating_operations(const Object& match, const std::string& path, FieldErrors& errors);
// metadata.matchConditions of a webhook or a policy.
void check_match_conditions(const Object& holder, const cel::PolicyNames& names, const std::string& path, FieldErrors& errors);
// Checks an expression, which errors quote as `shown`, and whose result must be of one of the types.  Returns the program; null: it does
// not compile.
std::shared_ptr<const cel::Program> check_expression(std::string_view expression, std::string_view shown, const cel::PolicyNames& names,
                                                     std::initializer_list<std::string_view> types, const std::string& path,
                                                     FieldErrors& errors);
// Checks a webhook's clientConfig.
void check_client_config(const Object& client, const std::string& path, FieldErrors& errors);

// Names that only objects of manifests may have, while the gate ManifestBasedAdmissionControlConfig is on.
void check_static_name(const Object& object, FieldErrors& errors);
// The reason why the name is reserved; empty: not reserved.
std::string static_name_problem(std::string_view name);

// A strategy whose new objects must not have such names.
template <class Kind>
class WithReservedNames final : public Kind {
 public:
  using Kind::Kind;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    Kind::check_new(object, errors);
    check_static_name(object, errors);
  }
};
// `reserved`: the gate is on.
template <class Kind, class... Arguments>
kit::MakeStrategy made_kind(bool reserved, Arguments... arguments) {
  return reserved ? kit::made<WithReservedNames<Kind>>(arguments...) : kit::made<Kind>(arguments...);
}

// The text without surrounding blanks.
std::string_view trimmed(std::string_view text) noexcept;

}  // namespace backplane::admissionregistration
