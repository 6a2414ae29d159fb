#include "plugin/fenced_hooks.hpp"

#include "backplane/points/storage.hpp"
#include "base/caught.hpp"
#include "base/fenced.hpp"
#include "plugin/finding.hpp"
#include "plugin/log.hpp"

namespace backplane {

namespace {

Status hook_threw(const std::string& plugin, const std::string& what, const std::string& error) {
  // Not internal_error(), whose prefix "Internal error occurred: " is for API clients.
  return Status(Reason::kInternalError, std::string(finding_code::kHookThrew) + " " + what + " of plugin " + plugin + " threw: " + error);
}

enum class Stack : unsigned char { kLogged, kDropped };

void log_error(const std::string& plugin, const std::string& what, const Caught& error) {
  plugin_log().error("{} {} threw plugin={} error={:?}{}", finding_code::kHookThrew, what, plugin, error.what, error.stack);
}

Task<Status> fenced_hook(std::string plugin, std::string what, std::function<Task<Status>()> run, Stack stack) {
  return fenced<Status>(std::move(run), [plugin = std::move(plugin), what = std::move(what), stack](const Caught& error) {
    if (stack == Stack::kLogged) log_error(plugin, what, error);
    return hook_threw(plugin, what, error.what);
  });
}

class FencedHealthCheck final : public HealthCheck {
 public:
  FencedHealthCheck(std::string plugin, std::string name, std::shared_ptr<HealthCheck> check)
      : plugin_(std::move(plugin)), name_(std::move(name)), group_(check->group()), check_(std::move(check)) {}
  std::string name() const override { return name_; }
  std::string group() const override { return group_; }
  Task<Status> check() override {
    // The log gets no stack: each probe runs the check, possibly every second.
    return fenced_hook(
        plugin_, "health check " + name_, [check = check_] { return check->check(); }, Stack::kDropped);
  }

 private:
  std::string plugin_, name_, group_;  // name_ and group_: as when the check was registered
  std::shared_ptr<HealthCheck> check_;
};

}  // namespace

Task<Status> fenced_post_start(std::string plugin, std::string name, PostStartHook hook, PostStartHookContext context) {
  return fenced_hook(
      std::move(plugin), "post-start hook " + name, [hook = std::move(hook), context = std::move(context)] { return hook(context); },
      Stack::kLogged);
}

Task<Status> fenced_pre_shutdown(std::string plugin, std::string name, PreShutdownHook hook) {
  return fenced_hook(std::move(plugin), "pre-shutdown hook " + name, std::move(hook), Stack::kLogged);
}

std::shared_ptr<HealthCheck> fenced_health_check(std::string plugin, std::string name, std::shared_ptr<HealthCheck> check) {
  return std::make_shared<FencedHealthCheck>(std::move(plugin), std::move(name), std::move(check));
}

Host::StorageBackendFactory fenced_factory(std::string plugin, std::string name, Host::StorageBackendFactory factory) {
  return [what = "the factory of the storage backend " + backplane::quoted(name) + " of plugin " + plugin,
          factory = std::move(factory)](const StorageBackendConfig& config) -> Result<std::unique_ptr<StorageBackend>> {
    auto made = fenced_now([&] { return factory(config); },
                           [&what](const Caught& error) -> Result<std::unique_ptr<StorageBackend>> {
                             return Status(Reason::kInternalError, what + " threw: " + error.what);
                           });
    if (made.ok() && *made == nullptr) return Status(Reason::kInternalError, what + " made nothing");
    return made;
  };
}

// The factory holds the generation only while it runs, because the generation owns the factory.
AdmissionRegistration::Factory fenced_admission(std::string name, AdmissionRegistration::Factory factory, Hold hold) {
  return [name = std::move(name), factory = std::move(factory),
          weak = std::weak_ptr<const void>(hold)](const AdmissionPluginConfig& config) -> Result<std::shared_ptr<AdmissionPlugin>> {
    Result<std::shared_ptr<AdmissionPlugin>> made;
    const FencedCall call = fenced_status([&] {
      made = factory(config);
      return made.ok() && *made == nullptr ? internal_error("its factory made nothing") : made.status();
    });
    if (!call.status.ok()) return call.status;
    return tied(weak.lock(), std::move(*made));
  };
}

std::function<void()> fenced_callback(std::string plugin, std::string what, std::function<void()> callback) {
  return [plugin = std::move(plugin), what = std::move(what), callback = std::move(callback)] {
    fenced_now([&callback] { callback(); }, [&](const Caught& error) { log_error(plugin, what, error); });
  };
}

void log_thrown(const std::string& plugin, const std::string& what) { log_error(plugin, what, caught()); }

}  // namespace backplane
