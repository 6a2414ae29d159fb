// Validation that several kinds of the group share.
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

// Checks the versions and resources of each rule in the list `key` of `holder`; `path` is the path of the list.
void check_operation_rules(const Object& holder, std::string_view key, const std::string& path, FieldErrors& errors);
// Refuses operations that a mutating policy must not have, such as DELETE.
void check_mutating_operations(const Object& match, const std::string& path, FieldErrors& errors);
// Checks the matchConditions of a webhook or of the spec of a policy.
void check_match_conditions(const Object& holder, const cel::PolicyNames& names, const std::string& path, FieldErrors& errors);
// Compiles an expression and checks that its result has one of `types`. Errors quote the expression as `shown`. Returns the program, or
// null after an error.
std::shared_ptr<const cel::Program> check_expression(std::string_view expression, std::string_view shown, const cel::PolicyNames& names,
                                                     std::initializer_list<std::string_view> types, const std::string& path,
                                                     FieldErrors& errors);
// Checks a webhook's clientConfig.
void check_client_config(const Object& client, const std::string& path, FieldErrors& errors);

// Refuses names that are reserved for objects in manifest files (gate ManifestBasedAdmissionControlConfig).
void check_static_name(const Object& object, FieldErrors& errors);
// The reason why the name is reserved; empty: not reserved.
std::string static_name_problem(std::string_view name);

// A strategy that refuses reserved names for new objects.
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
// `reserved`: the gate ManifestBasedAdmissionControlConfig is on.
template <class Kind, class... Arguments>
kit::MakeStrategy made_kind(bool reserved, Arguments... arguments) {
  return reserved ? kit::made<WithReservedNames<Kind>>(arguments...) : kit::made<Kind>(arguments...);
}

// The text without surrounding blanks.
std::string_view trimmed(std::string_view text) noexcept;

}  // namespace backplane::admissionregistration
