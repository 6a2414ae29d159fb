// The plugin `flowcontrol`: the group flowcontrol.apiserver.k8s.io, and what the server keeps of it by itself.
#include "backplane/plugin.hpp"

#include "backplane/kit/group.hpp"
#include "consumer.hpp"
#include "kinds.hpp"
#include "producer.hpp"

namespace backplane::flowcontrol {
namespace {

class FlowcontrolPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status status = kit::install_group(host, "flowcontrol", flowcontrol_group(), std::vector{flowcontrol_schemas()});
    return status.ok() ? add_hooks(host) : status;
  }

 private:
  static Status add_hooks(Host& host) {
    for (const std::string_view resource : {kFlowSchemas, kPriorityLevels}) {
      if (!host.resource_enabled({std::string(kGroup), "v1", std::string(resource)})) return {};
    }
    auto informers = std::make_shared<SharedInformerFactory>(host);
    auto consumer = std::make_shared<ConfigConsumer>(host, informers);
    Status status = host.add_post_start_hook("priority-and-fairness-config-consumer",
                                             [consumer](PostStartHookContext context) { return consumer->start(context); });
    if (!status.ok()) return status;
    auto producer = std::make_shared<ConfigProducer>(host, std::move(informers));
    return host.add_post_start_hook("priority-and-fairness-config-producer",
                                    [producer](PostStartHookContext context) { return producer->start(context); });
  }
};

}  // namespace
}  // namespace backplane::flowcontrol

BACKPLANE_PLUGIN(backplane::flowcontrol::FlowcontrolPlugin)
