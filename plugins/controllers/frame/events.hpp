// Writes Events about objects (record.EventRecorder).
//
// Thread-safety: the plugin's executor.
// Lifetime:      a write in progress owns its data; the host outlives it.
// Errors:        an event that cannot be written is logged at debug.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "frame/context.hpp"

namespace backplane::controllers {

// v1.ObjectReference of the object that an event is about.
struct EventObject {
  std::string api_version, kind, ns, name, uid, resource_version;
};
EventObject event_object_of(const Object& object, std::string_view api_version, std::string_view kind);

class EventRecorder {
 public:
  // `component`: source.component and reportingComponent.
  EventRecorder(const Context& context, std::string component) : context_(context), component_(std::move(component)) {}
  // `type`: "Normal" or "Warning". The same event about the same object is written once.
  void write(EventObject about, std::string_view type, std::string_view reason, std::string_view message);

 private:
  Context context_;
  const std::string component_;
  std::set<std::string> written_;
};

}  // namespace backplane::controllers
