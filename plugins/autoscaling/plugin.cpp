// The plugin `autoscaling`: HorizontalPodAutoscalers, stored as v2, also served as v1.
#include "backplane/plugin.hpp"

#include "autoscaling_v1_json.hpp"
#include "autoscaling_v2_json.hpp"
#include "backplane/kit/deferred_install.hpp"
#include "backplane/kit/group.hpp"
#include "conversion.hpp"
#include "strategy.hpp"

namespace backplane::autoscaling {
namespace {

class AutoscalingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    auto schemas = kit::embedded_schemas({autoscaling_v2_json(), autoscaling_v1_json()});
    if (!schemas.ok()) return std::move(schemas).status();
    auto group = autoscaling_group(schemas->front(), kit::gate_is_on(host, "HPAScaleToZero"));
    return kit::install_group(host, "autoscaling", std::move(group), std::move(schemas));
  }
};

}  // namespace
}  // namespace backplane::autoscaling

BACKPLANE_PLUGIN(backplane::autoscaling::AutoscalingPlugin)
