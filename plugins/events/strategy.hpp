// What events.k8s.io/v1 asks of an event beyond what the core group asks: a new event is complete, and an old one changes in its series
// alone.
//
// Thread-safety: const; any thread.
// Errors:        fields are blamed under the names they are stored with, as upstream does.
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

// The group: schema/events_group.json with its code.
Result<kit::GroupDocument> events_group();

}  // namespace backplane::events
