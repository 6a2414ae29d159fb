// Rules of events.k8s.io/v1 beyond the core group's: a new event must be complete, and an update may change only the series.
//
// Thread-safety: const; any thread.
// Errors:        as upstream, errors use the fields' stored names.
#pragma once

#include "backplane/kit/group_document.hpp"
#include "backplane/rest/strategy.hpp"

namespace backplane::events {

class EventStrategy final : public Strategy {
 public:
  using Strategy::Strategy;
  void validate(RequestContext& context, const Object& event, FieldErrors& errors) const override;
  void validate_update(RequestContext& context, const Object& event, const Object& old, FieldErrors& errors) const override;
};

// Returns the group: schema/events_group.json together with its code.
Result<kit::GroupDocument> events_group();

}  // namespace backplane::events
