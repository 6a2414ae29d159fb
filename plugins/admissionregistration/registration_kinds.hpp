// The types, defaults and validation of the kinds of admissionregistration.k8s.io/v1, for objects that are read from files.
//
// Thread-safety: any thread; the result is immutable.
// Lifetime:      schemas live as long as the process.
// Errors:        a kind that the group does not have: a null schema.
#pragma once

#include <memory>
#include <string_view>

#include "backplane/rest/strategy.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admissionregistration {

struct RegisteredKind {
  const Schema* schema = nullptr;
  std::shared_ptr<const Strategy> strategy;
};
RegisteredKind registered_kind(std::string_view kind);

}  // namespace backplane::admissionregistration
