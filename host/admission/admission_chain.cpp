#include "admission/admission_chain.hpp"

#include <algorithm>

#include "admission/log.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "base/fenced.hpp"

namespace backplane {
namespace {

// The time of one plugin, or of a whole step ("admit", "validate"), since its construction.
// plugin_ended() or step_ended() counts it with the result.
class StepTimer {
 public:
  StepTimer(AdmissionOperation operation, std::string_view step) : operation_(admission_operation_name(operation)), step_(step) {}

  void plugin_ended(std::string_view name, const Status& status) const {
    static Metric& durations = Metric::histogram(
        "apiserver_admission_controller_admission_duration_seconds",
        "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource "
        "and type (validate or admit).",
        {"name", "operation", "rejected", "type"}, kBounds);
    durations.observe({name, operation_, rejected(status), step_}, seconds());
  }
  void step_ended(const Status& status) const {
    static Metric& durations = Metric::histogram(
        "apiserver_admission_step_admission_duration_seconds",
        "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate "
        "or admit).",
        {"operation", "rejected", "type"}, kBounds);
    durations.observe({operation_, rejected(status), step_}, seconds());
  }

 private:
  static inline const std::vector<double> kBounds{0.005, 0.025, 0.1, 0.5, 1.0, 2.5};
  static std::string_view rejected(const Status& status) { return status.ok() ? "false" : "true"; }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  const std::string_view operation_, step_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

constexpr std::string_view kAdmit = "admit", kValidate = "validate";

constexpr std::chrono::milliseconds kLookAgain{100};

// ---- calls of a plugin

Status threw(std::string_view plugin, const Caught& error) {
  admission_log().error("admission plugin threw plugin={} error={}{}", plugin, error.what, error.stack);
  return internal_error("admission plugin " + std::string(plugin) + " threw: " + error.what);
}

Task<Status> ask_admit(const AdmissionPlugin& plugin, AdmissionAttributes& attributes) {
  return fenced<Status>([&plugin, &attributes] { return plugin.admit(attributes); },
                        [&plugin](const Caught& error) { return threw(plugin.name(), error); });
}

Task<Status> ask_validate(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) {
  return fenced<Status>([&plugin, &attributes] { return plugin.validate(attributes); },
                        [&plugin](const Caught& error) { return threw(plugin.name(), error); });
}

using BeginResult = Result<std::unique_ptr<BegunWrite>>;

Task<BeginResult> ask_begin(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) {
  return fenced<BeginResult>([&plugin, &attributes] { return plugin.begin(attributes); },
                             [&plugin](const Caught& error) { return BeginResult(threw(plugin.name(), error)); });
}

// The begun write of a plugin, which it keeps alive: the chain may publish other plugins before the write ends.
class HeldWrite final : public BegunWrite {
 public:
  HeldWrite(std::shared_ptr<const AdmissionPlugin> plugin, std::unique_ptr<BegunWrite> write)
      : plugin_(std::move(plugin)), write_(std::move(write)) {}
  Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) override {
    return fenced<Result<bool>>([this, &context, &transaction] { return write_->join(context, transaction); },
                                [this](const Caught& error) { return Result<bool>(threw(plugin_->name(), error)); });
  }
  Task<void> finish(bool kept) override {
    // The write has ended: an exception can only be logged.
    auto finishing =
        fenced<Status>([this, kept] { return finish_write(kept); }, [this](const Caught& error) { return threw(plugin_->name(), error); });
    (void)co_await std::move(finishing);
  }

 private:
  Task<Status> finish_write(bool kept) {
    co_await write_->finish(kept);
    co_return Status();
  }

  const std::shared_ptr<const AdmissionPlugin> plugin_;  // declared first, so destroyed last
  const std::unique_ptr<BegunWrite> write_;
};

// Upstream's reinvoker: a second pass over the plugins with reinvoked().
class Reinvocation {
 public:
  explicit Reinvocation(AdmissionAttributes& attributes) : attributes_(attributes) { attributes_.reinvocation = &state_; }
  Reinvocation(const Reinvocation&) = delete;
  Reinvocation& operator=(const Reinvocation&) = delete;
  ~Reinvocation() { attributes_.reinvocation = nullptr; }
  bool wanted() const noexcept { return state_.requested() && !state_.again(); }
  void begin() noexcept { state_.begin_again(); }

 private:
  AdmissionAttributes& attributes_;
  AdmissionReinvocation state_;
};

}  // namespace

bool AdmissionChain::reads_managed_fields() const noexcept {
  const auto plugins = plugins_.get();
  return std::any_of(plugins->begin(), plugins->end(), [](const auto& plugin) { return plugin->reads_managed_fields(); });
}

std::vector<std::string> AdmissionChain::names() const {
  const auto plugins = plugins_.get();
  std::vector<std::string> names;
  names.reserve(plugins->size());
  for (const auto& plugin : *plugins) names.emplace_back(plugin->name());
  return names;
}

Task<Status> AdmissionChain::admit(AdmissionAttributes& attributes) {
  const auto plugins = plugins_.get();
  Reinvocation reinvocation(attributes);
  const StepTimer step(attributes.operation, kAdmit);
  Status admitted = co_await pass(*plugins, attributes);
  if (admitted.ok() && reinvocation.wanted()) {
    reinvocation.begin();
    admitted = co_await pass(*plugins, attributes);
  }
  step.step_ended(admitted);
  co_return admitted;
}

Task<Status> AdmissionChain::pass(const Plugins& plugins, AdmissionAttributes& attributes) {
  for (const auto& plugin : plugins) {
    if (!plugin->handles(attributes.operation)) continue;
    if (attributes.reinvocation->again() && !plugin->reinvoked()) continue;
    Status admitted;
    const StepTimer timer(attributes.operation, kAdmit);
    if (!plugin->ready()) admitted = co_await wait_ready(*plugin, attributes);
    if (admitted.ok()) {
      auto asking = ask_admit(*plugin, attributes);
      admitted = co_await std::move(asking);
    }
    timer.plugin_ended(plugin->name(), admitted);
    if (!admitted.ok()) co_return admitted;
  }
  co_return Status();
}

Task<Status> AdmissionChain::validate(const AdmissionAttributes& attributes) {
  const auto plugins = plugins_.get();
  const StepTimer step(attributes.operation, kValidate);
  Status allowed;
  for (const auto& plugin : *plugins) {
    if (!plugin->handles(attributes.operation)) continue;
    const StepTimer timer(attributes.operation, kValidate);
    if (!plugin->ready()) allowed = co_await wait_ready(*plugin, attributes);
    if (allowed.ok()) {
      auto asking = ask_validate(*plugin, attributes);
      allowed = co_await std::move(asking);
    }
    timer.plugin_ended(plugin->name(), allowed);
    if (!allowed.ok()) break;
  }
  step.step_ended(allowed);
  co_return allowed;
}

bool AdmissionChain::begins(AdmissionOperation operation) const noexcept {
  const auto plugins = plugins_.get();
  return std::any_of(plugins->begin(), plugins->end(),
                     [operation](const auto& plugin) { return plugin->handles(operation) && plugin->begins(operation); });
}

Task<Result<WriteAdmission::Begun>> AdmissionChain::begin(const AdmissionAttributes& attributes) {
  const auto plugins = plugins_.get();
  Begun begun;
  Status refused;
  for (const auto& plugin : *plugins) {
    if (!plugin->handles(attributes.operation) || !plugin->begins(attributes.operation)) continue;
    auto beginning = ask_begin(*plugin, attributes);
    auto write = co_await std::move(beginning);
    if (!write.ok()) {
      refused = std::move(write.status());
      break;
    }
    if (*write != nullptr) begun.push_back(std::make_unique<HeldWrite>(plugin, std::move(*write)));
  }
  if (refused.ok()) co_return begun;
  for (const auto& write : begun) co_await write->finish(false);
  co_return refused;
}

Task<Status> AdmissionChain::wait_ready(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) const {
  const auto until = std::chrono::steady_clock::now() + patience_;
  while (!plugin.ready()) {
    if (std::chrono::steady_clock::now() >= until) co_return admission_forbidden(attributes, "not yet ready to handle request");
    co_await sleep_for(kLookAgain);
  }
  co_return Status();
}

}  // namespace backplane
