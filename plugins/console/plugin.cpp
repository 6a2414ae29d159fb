// The plugin `console`: /console/, a web page that shows the delegation chain of plugins, types, objects, load and rights. The page has the
// rights of the viewer.
#include <backplane/plugin.hpp>
#include <backplane/points/paths.hpp>

#include "assets.hpp"

namespace backplane::console {
namespace {

class ConsolePlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    const auto handler = std::make_shared<AssetHandler>();
    Status page = host.handle({"/console", false, false, handler});
    return page.ok() ? host.handle({"/console/", true, false, handler}) : page;
  }
};

}  // namespace
}  // namespace backplane::console

BACKPLANE_PLUGIN(backplane::console::ConsolePlugin)
