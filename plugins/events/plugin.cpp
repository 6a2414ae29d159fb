// The plugin `events`: events.k8s.io/v1, a second version of the events that core stores.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "conversion.hpp"
#include "events_v1_json.hpp"
#include "strategy.hpp"

namespace backplane::events {
namespace {

class EventsPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    return kit::install_group(host, "events", events_group(), kit::embedded_schemas({events_v1_json()}));
  }
};

}  // namespace
}  // namespace backplane::events

BACKPLANE_PLUGIN(backplane::events::EventsPlugin)
