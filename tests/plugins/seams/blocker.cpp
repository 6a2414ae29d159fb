// A plugin that blocks the calling thread forever. The environment variable BLOCKER selects where: "start" in a post-start hook, "task" in
// a spawned task, "stop" in a pre-shutdown hook, "post" in a function that the plugin has posted to its executor.
#include <backplane/plugin.hpp>
#include <cstdlib>
#include <thread>

namespace {

using namespace backplane;

void block_forever(Host& host, std::string_view where) {
  host.logger().info("blocking for good in " + std::string(where));
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

Task<Status> blocking_hook(Host& host, std::string where) {
  block_forever(host, where);
  co_return Status();
}
Task<void> blocking_task(Host& host) {
  block_forever(host, "task");
  co_return;
}

class Blocker final : public Plugin {
 public:
  Status provision(Host& host) override {
    const char* wanted = std::getenv("BLOCKER");
    const std::string where = wanted != nullptr ? wanted : "";
    if (where == "start") {
      return host.add_post_start_hook("blocker/start", [&host](PostStartHookContext) { return blocking_hook(host, "start"); });
    }
    if (where == "stop") return host.add_pre_shutdown_hook("blocker/stop", [&host] { return blocking_hook(host, "stop"); });
    if (where == "task") host.spawn("block", blocking_task(host));
    if (where == "post") {
      host.executor().post([&host] { block_forever(host, "post"); });
    }
    return {};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Blocker)
