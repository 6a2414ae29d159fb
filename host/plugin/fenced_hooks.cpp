#include "plugin/fenced_hooks.hpp"

#include <functional>

#include "plugin/fence.hpp"
#include "plugin/finding.hpp"

namespace backplane {

namespace {

Status hook_threw(const std::string& plugin, const std::string& what, const std::string& error) {
  // Not internal_error(): its "Internal error occurred: " is for the client of an API.
  return Status(Reason::kInternalError, std::string(finding_code::kHookThrew) + " " + what + " of plugin " + plugin + " threw: " + error);
}

Task<Status> fenced(std::string plugin, std::string what, std::function<Task<Status>()> run) {
  std::string error;
  try {
    auto task = run();
    auto status = co_await std::move(task);
    co_return status;
  } catch (const std::exception& thrown) {
    error = thrown.what();
  } catch (...) {
    error = "an exception that is not a std::exception";
  }
  co_return hook_threw(plugin, what, error);
}

class FencedHealthCheck final : public HealthCheck {
 public:
  FencedHealthCheck(std::string plugin, std::string name, std::shared_ptr<HealthCheck> check)
      : plugin_(std::move(plugin)), name_(std::move(name)), check_(std::move(check)) {}
  std::string name() const override { return name_; }
  std::string group() const override { return check_->group(); }
  Task<Status> check() override {
    return fenced(plugin_, "health check " + name_, [check = check_] { return check->check(); });
  }

 private:
  std::string plugin_, name_;  // the name under which it was admitted
  std::shared_ptr<HealthCheck> check_;
};

}  // namespace

Task<Status> fenced_post_start(std::string plugin, std::string name, PostStartHook hook, PostStartHookContext context) {
  return fenced(std::move(plugin), "post-start hook " + name,
                [hook = std::move(hook), context = std::move(context)] { return hook(context); });
}

Task<Status> fenced_pre_shutdown(std::string plugin, std::string name, PreShutdownHook hook) {
  return fenced(std::move(plugin), "pre-shutdown hook " + name, std::move(hook));
}

std::shared_ptr<HealthCheck> fenced_health_check(std::string plugin, std::string name, std::shared_ptr<HealthCheck> check) {
  return std::make_shared<FencedHealthCheck>(std::move(plugin), std::move(name), std::move(check));
}

}  // namespace backplane
