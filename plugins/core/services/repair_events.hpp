// Events of the repair of addresses and node ports, about the services and addresses that were wrong.
//
// Thread-safety: one task at a time.
// Errors:        an event that cannot be written is logged and dropped.
#pragma once

#include <set>
#include <string>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::core {

struct RepairEvent {
  GroupVersionKind kind;  // the kind of `about`
  ObjectRef about;
  std::string reporter;  // "ipallocator-repair-controller"
  std::string reason;
  std::string action;
  std::string note;
};

class RepairEvents {
 public:
  virtual ~RepairEvents() = default;
  virtual Task<void> report(RepairEvent event) = 0;
};

// Writes events, each once during the life of the server.
class WrittenEvents final : public RepairEvents {
 public:
  explicit WrittenEvents(Host& host) : host_(host) {}
  Task<void> report(RepairEvent event) override;

 private:
  Host& host_;
  std::set<std::string> reported_;
};

// Returns the Event object that is stored.
Object event_object(const RepairEvent& event);

}  // namespace backplane::core
