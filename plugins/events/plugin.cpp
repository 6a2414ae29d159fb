// The plugin `events`: events.k8s.io/v1, a second version of the events that core stores.
#include "backplane/plugin.hpp"

#include <array>

#include "backplane/kit/group.hpp"
#include "conversion.hpp"
#include "events_v1_json.hpp"
#include "strategy.hpp"

namespace backplane::events {
namespace {

class EventsPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const std::array<std::string_view, 1> documents = {events_v1_json()};
    // References to objects are types of the core group.
    auto schemas = SchemaSet::embedded(documents, {core_schemas(), meta_schemas()});
    if (!schemas.ok()) return std::move(schemas).status();
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    return kit::install_group(host, "events", events_group(), {std::move(*schemas)});
  }
};

}  // namespace
}  // namespace backplane::events

BACKPLANE_PLUGIN(backplane::events::EventsPlugin)
