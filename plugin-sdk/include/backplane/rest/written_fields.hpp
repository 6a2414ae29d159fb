// The fields that a client's write can change, for metadata.managedFields (Strategy::written_fields). A field that a strategy resets must
// not be recorded as owned by the client that sent it.
//
// Thread-safety: const; any thread.
// Lifetime:      like that of the strategy.
// Source:        rest.ResetFieldsStrategy.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Set either `resets` or `reaches`.
struct WrittenFields {
  // Paths ("spec", "metadata.labels") that the strategy resets, regardless of what the client sent: the write does not own them.
  std::vector<std::string> resets = {};
  // If not empty: the only paths that the write can own. "*" stands for any item of a list ("spec.containers.*.resources").
  std::vector<std::string> reaches = {};
  // False: a write with the strategy is not recorded in metadata.managedFields.
  bool recorded = true;
  // Adds members that the writer owns although the object gets them only later. Called on a copy of the object that is used only for the
  // record. Empty: no such members.
  std::function<void(Object& object)> given_later = {};
};

}  // namespace BACKPLANE_API
