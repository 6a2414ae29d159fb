// The plugin `flowcontrol`: the group flowcontrol.apiserver.k8s.io, the objects of the group that the server maintains, and the gate that
// applies the objects.
#include "backplane/plugin.hpp"
#include "backplane/points/paths.hpp"

#include <charconv>

#include "backplane/kit/group.hpp"
#include "backplane/points/request_gate.hpp"
#include "backplane/types/durations.hpp"
#include "consumer.hpp"
#include "dumps.hpp"
#include "former_versions.hpp"
#include "gate.hpp"
#include "kinds.hpp"
#include "producer.hpp"

namespace backplane::flowcontrol {
namespace {

int number_of(const Host& host, std::string_view flag) {
  const std::string text = host.flag(flag).value_or("");
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Calls Gate::sweep() every second until the server stops.
Task<void> keep_watermarks(std::shared_ptr<Gate> gate, Signal& stop) {
  Sleeper sleeper(stop);
  bool running = true;
  while (running) {
    running = co_await sleeper.sleep(std::chrono::seconds(1));
    gate->sweep();
  }
}

Task<Status> start_filter(Host& host, std::shared_ptr<Gate> gate, Signal& stop) {
  host.spawn("priority-and-fairness-filter", keep_watermarks(std::move(gate), stop));
  co_return Status();
}

class FlowcontrolPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    Status status = kit::install_group(host, "flowcontrol", flowcontrol_group(), std::vector{flowcontrol_schemas()});
    if (status.ok()) status = add_former_versions(host.scheme());
    if (!status.ok()) return status;
    for (const std::string_view resource : {kFlowSchemas, kPriorityLevels}) {
      if (!host.resource_enabled({std::string(kGroup), "v1", std::string(resource)})) return {};
    }
    auto informers = std::make_shared<SharedInformerFactory>(host);
    if (host.flag("enable-priority-and-fairness") == "true") status = add_gate(host, informers);
    if (!status.ok()) return status;
    auto producer = std::make_shared<ConfigProducer>(host, std::move(informers));
    return host.add_post_start_hook("priority-and-fairness-config-producer",
                                    [producer](PostStartHookContext context) { return producer->start(context); });
  }

 private:
  static Status add_gate(Host& host, const std::shared_ptr<SharedInformerFactory>& informers) {
    const int seats = number_of(host, "max-requests-inflight") + number_of(host, "max-mutating-requests-inflight");
    const auto timeout = parse_duration(host.flag("request-timeout").value_or("")).value_or(std::chrono::minutes(1));
    const bool by_bytes = host.flag("feature-gates.SizeBasedListCostEstimate") == "true";
    auto gate = std::make_shared<Gate>(seats, timeout, by_bytes ? ListCost::kBytes : ListCost::kObjects);
    Status status = host.register_request_gate(gate);
    for (PathRoute& route : dump_routes(gate)) {
      if (status.ok()) status = host.handle(std::move(route));
    }
    auto consumer = std::make_shared<ConfigConsumer>(host, informers, gate);
    if (status.ok()) {
      status = host.add_post_start_hook("priority-and-fairness-config-consumer",
                                        [consumer](PostStartHookContext context) { return consumer->start(context); });
    }
    if (!status.ok()) return status;
    return host.add_post_start_hook("priority-and-fairness-filter",
                                    [&host, gate](PostStartHookContext context) { return start_filter(host, gate, context.stop); });
  }
};

}  // namespace
}  // namespace backplane::flowcontrol

BACKPLANE_PLUGIN(backplane::flowcontrol::FlowcontrolPlugin)
