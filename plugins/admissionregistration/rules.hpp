// Rules that the group's kinds share and that cross fields.
//
// Thread-safety: pure functions.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/cel_policy.hpp"

namespace backplane::admissionregistration {

// Versions and resources of each of a list of rules; `path` is the list's.
void check_operation_rules(const Object& holder, std::string_view key, const std::string& path, FieldErrors& errors);
// Operations that a mutating policy cannot have.
void check_mutating_operations(const Object& match, const std::string& path, FieldErrors& errors);
// metadata.matchConditions of a webhook or a policy.
void check_match_conditions(const Object& holder, const cel::PolicyNames& names, const std::string& path, FieldErrors& errors);
// An expression, which is quoted as `shown`, and whose result is of one of the types.  Gives the program; null: it does not compile.
std::shared_ptr<const cel::Program> check_expression(std::string_view expression, std::string_view shown, const cel::PolicyNames& names,
                                                     std::initializer_list<std::string_view> types, const std::string& path,
                                                     FieldErrors& errors);
// How a webhook is called.
void check_client_config(const Object& client, const std::string& path, FieldErrors& errors);

// Without blanks around.
std::string_view trimmed(std::string_view text) noexcept;

}  // namespace backplane::admissionregistration
