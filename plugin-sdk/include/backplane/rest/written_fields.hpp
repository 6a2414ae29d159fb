// The fields that a client's write can change through a strategy, for metadata.managedFields (Strategy::written_fields). Fields that a
// strategy resets must not be recorded as owned by the client that sent them.
//
// Thread-safety: const; any thread.
// Lifetime:      that of the strategy.
// Source:        rest.ResetFieldsStrategy.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Set `resets` or `reaches`, not both.
struct WrittenFields {
  // Member paths ("spec", "metadata.labels") that the strategy resets, whatever the client sent: the write does not own them.
  std::vector<std::string> resets = {};
  // If not empty, the only paths that the write can own; "*" stands for any item of a list ("spec.containers.*.resources").
  std::vector<std::string> reaches = {};
  // False: a write through the strategy is not recorded in metadata.managedFields.
  bool recorded = true;
  // Adds members that the object gets later although the writer owns them. Called on a copy that is used only for the record. Empty:
  // none.
  std::function<void(Object& object)> given_later = {};
};

}  // namespace BACKPLANE_API
