// The plugin `autoscaling`: HorizontalPodAutoscalers, stored as v2 and served as v1, too.
#include "backplane/plugin.hpp"

#include <array>

#include "autoscaling_v1_json.hpp"
#include "autoscaling_v2_json.hpp"
#include "backplane/kit/group.hpp"
#include "conversion.hpp"
#include "strategy.hpp"

namespace backplane::autoscaling {
namespace {

Result<std::shared_ptr<const SchemaSet>> schemas_of(std::string_view document) {
  const std::array<std::string_view, 1> documents = {document};
  return SchemaSet::embedded(documents, {meta_schemas()});
}

class AutoscalingPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto v2 = schemas_of(autoscaling_v2_json());
    if (!v2.ok()) return std::move(v2).status();
    auto v1 = schemas_of(autoscaling_v1_json());
    if (!v1.ok()) return std::move(v1).status();
    if (Status status = add_conversions(host.scheme()); !status.ok()) return status;
    return kit::install_group(host, "autoscaling", autoscaling_group(), {std::move(*v2), std::move(*v1)});
  }
};

}  // namespace
}  // namespace backplane::autoscaling

BACKPLANE_PLUGIN(backplane::autoscaling::AutoscalingPlugin)
