// The plugin `events`: events.k8s.io/v1, a second version of the events that core stores.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "backplane/rest/former_versions.hpp"
#include "conversion.hpp"
#include "events_former_json.hpp"
#include "events_v1_json.hpp"
#include "strategy.hpp"

namespace backplane::events {
namespace {

class EventsPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    const auto schemas = kit::embedded_schemas({events_v1_json()});
    Status status = kit::install_group(host, "events", events_group(), schemas);
    if (!status.ok()) return status;
    return add_former_versions(host.scheme(), "events", events_former_json(), schemas->front(),
                               {{{"Event", "events.k8s.io/v1beta1"}, to_core_event}});
  }
};

}  // namespace
}  // namespace backplane::events

BACKPLANE_PLUGIN(backplane::events::EventsPlugin)
