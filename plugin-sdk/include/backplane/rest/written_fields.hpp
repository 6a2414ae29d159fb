// Which fields of an object a client's write reaches through a strategy, for the record of who manages which fields
// (metadata.managedFields).
//
// A role beside Strategy: the host asks each strategy for it once, by dynamic_cast.  One that has not got it reaches everything, but for
// `status` where its facts say that this is a subresource.
// Thread-safety: const; any thread.
// Lifetime:      the strategy's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct WrittenFields {
  // Fields that the strategy sets back, whatever a client says of them, so that nobody comes to own them by saying it: paths of members
  // ("spec", "metadata.labels").
  std::vector<std::string> resets = {};
  // In place of that, the only fields that are reached: paths, "*" for any item of a list ("spec.containers.*.resources").
  std::vector<std::string> reaches = {};
  // False: what is written through the strategy is recorded for nobody.
  bool recorded = true;
  // Members that an object is given later, and whose owner is nevertheless who wrote it; called on a copy, for the record alone.  Empty:
  // there are none.
  std::function<void(Object& object)> given_later = {};
};

}  // namespace BACKPLANE_API
