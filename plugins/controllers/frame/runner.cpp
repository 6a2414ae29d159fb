#include "frame/runner.hpp"

#include <algorithm>

#include "backplane/core/metrics.hpp"

namespace backplane::controllers {
namespace {

bool has_work(const Host& host, const ControllerRow& row) {
  return std::all_of(row.resources.begin(), row.resources.end(),
                     [&](const GroupVersionResource& resource) { return host.resource_enabled(resource); });
}

void show_running(std::string_view controller, bool runs) {
  static Metric& running = Metric::gauge("running_managed_controllers",
                                         "[BETA] Indicates where instances of a controller are currently running", {"manager", "name"});
  running.set({"kube-controller-manager", controller}, runs ? 1 : 0);
}

}  // namespace

void Runner::begin_term() {
  term_ = std::make_shared<Term>(host_);
  std::string names;
  for (const ControllerRow& row : rows_) {
    if (!has_work(host_, row)) continue;
    const Context context{host_, std::string(row.name), term_, controller_client(host_, row), changes_};
    Status started = row.start(context);
    if (!started.ok()) {
      host_.logger().error("a controller does not run controller=" + context.name + " error=" + quoted(started.message()));
      continue;
    }
    show_running(row.name, true);
    running_.push_back(context.name);
    names += (names.empty() ? "" : ",") + context.name;
  }
  term_->start_informers();
  host_.logger().info("controllers run on this server controllers=" + names);
}

void Runner::end_term() {
  if (term_ == nullptr) return;
  std::exchange(term_, nullptr)->end();
  for (const std::string& name : std::exchange(running_, {})) show_running(name, false);
  host_.logger().info("controllers stopped on this server");
}

}  // namespace backplane::controllers
