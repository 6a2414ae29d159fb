#include "admission/admission_chain.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "admission/log.hpp"
#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "base/fenced.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

enum class Step : unsigned char { kAdmit, kValidate };
constexpr std::string_view step_name(Step step) { return step == Step::kAdmit ? "admit" : "validate"; }

std::string_view rejected(const Status& status) { return status.ok() ? "false" : "true"; }

const std::vector<double>& duration_bounds() {
  static const std::vector<double> bounds{0.005, 0.025, 0.1, 0.5, 1.0, 2.5};
  return bounds;
}

Metric& plugin_durations() {
  static Metric& durations = Metric::histogram(
      "apiserver_admission_controller_admission_duration_seconds",
      "[STABLE] Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource "
      "and type (validate or admit).",
      {"name", "operation", "rejected", "type"}, duration_bounds());
  return durations;
}

Metric& step_durations() {
  static Metric& durations = Metric::histogram(
      "apiserver_admission_step_admission_duration_seconds",
      "[STABLE] Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate "
      "or admit).",
      {"operation", "rejected", "type"}, duration_bounds());
  return durations;
}

double seconds_between(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

// The first and the longest pause between two calls of ready(). Most plugins wait for a list that takes a few milliseconds.
constexpr std::chrono::milliseconds kFirstReadyPause{1}, kLongestReadyPause{100};

// ---- calls of a plugin

Status threw(std::string_view plugin, const Caught& error) {
  admission_log().error("admission plugin threw plugin={} error={}{}", plugin, error.what, error.stack);
  return internal_error("admission plugin " + std::string(plugin) + " threw: " + error.what);
}

std::optional<Status> ask_admit_now(const AdmissionPlugin& plugin, AdmissionAttributes& attributes) {
  return fenced_now([&plugin, &attributes] { return plugin.admit_now(attributes); },
                    [&plugin](const Caught& error) { return std::optional<Status>(threw(plugin.name(), error)); });
}

std::optional<Status> ask_validate_now(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) {
  return fenced_now([&plugin, &attributes] { return plugin.validate_now(attributes); },
                    [&plugin](const Caught& error) { return std::optional<Status>(threw(plugin.name(), error)); });
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

// The begun write of a plugin. It shares the plugin, because other plugins may be published before the write ends.
class HeldWrite final : public BegunWrite {
 public:
  HeldWrite(std::shared_ptr<const AdmissionPlugin> plugin, std::unique_ptr<BegunWrite> write)
      : plugin_(std::move(plugin)), write_(std::move(write)) {}
  Task<Result<bool>> join(RequestContext& context, StoreTransaction& transaction) override {
    return fenced<Result<bool>>([this, &context, &transaction] { return write_->join(context, transaction); },
                                [this](const Caught& error) { return Result<bool>(threw(plugin_->name(), error)); });
  }
  Task<void> finish(bool kept) override {
    // The write has ended, so an exception can only be logged.
    auto finishing =
        fenced<Status>([this, kept] { return finish_write(kept); }, [this](const Caught& error) { return threw(plugin_->name(), error); });
    (void)co_await std::move(finishing);
  }

 private:
  Task<Status> finish_write(bool kept) {
    co_await write_->finish(kept);
    co_return Status();
  }

  const std::shared_ptr<const AdmissionPlugin> plugin_;  // declared first, so that it is destroyed last
  const std::unique_ptr<BegunWrite> write_;
};

// Implements the second pass, like upstream's reinvoker: plugins with reinvoked() run again if a plugin has requested it.
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

// The metric cells of a histogram, by step, operation and result. A cell is looked up at its first observation.
class AdmissionChain::DurationCells {
 public:
  // `plugin`: the value of the label "name" in the histogram of plugins. If it is empty, the histogram of steps is used.
  void observe(std::string_view plugin, Step step, AdmissionOperation operation, const Status& status, double seconds) const {
    auto& place = cells_[static_cast<std::size_t>(step)][static_cast<std::size_t>(operation)][status.ok() ? 0 : 1];
    MetricCell* cell = place.load(std::memory_order_acquire);
    if (cell == nullptr) {
      const std::string_view name = admission_operation_name(operation);
      cell = plugin.empty() ? MetricCell::of(step_durations(), {name, rejected(status), step_name(step)})
                            : MetricCell::of(plugin_durations(), {plugin, name, rejected(status), step_name(step)});
      place.store(cell, std::memory_order_release);
    }
    if (cell != nullptr) cell->observe(seconds);
  }

 private:
  mutable std::array<std::array<std::array<std::atomic<MetricCell*>, 2>, 4>, 2> cells_{};
};

// A plugin, its properties, which are read once, and the metric cells of its durations.
class AdmissionChain::Entry {
 public:
  explicit Entry(std::shared_ptr<const AdmissionPlugin> plugin) : plugin_(std::move(plugin)) {
    takes_part_[static_cast<std::size_t>(Step::kAdmit)] = plugin_->mutates();
    takes_part_[static_cast<std::size_t>(Step::kValidate)] = plugin_->validates();
  }
  const std::shared_ptr<const AdmissionPlugin>& plugin() const noexcept { return plugin_; }
  bool takes_part(Step step, AdmissionOperation operation) const noexcept {
    return takes_part_[static_cast<std::size_t>(step)] && plugin_->handles(operation);
  }
  void ended(Step step, AdmissionOperation operation, const Status& status, double seconds) const {
    durations_.observe(plugin_->name(), step, operation, status, seconds);
  }

 private:
  const std::shared_ptr<const AdmissionPlugin> plugin_;
  std::array<bool, 2> takes_part_{};
  DurationCells durations_;
};

// Measures the durations of a step and of its plugins. It reads the clock once for each plugin: the end of a call is the start of the next
// one.
class AdmissionChain::StepClock {
 public:
  StepClock(const DurationCells& durations, Step step, AdmissionOperation operation)
      : durations_(durations), step_(step), operation_(operation) {}
  void plugin_ended(const Entry& entry, const Status& status) {
    const auto now = Clock::now();
    entry.ended(step_, operation_, status, seconds_between(last_, now));
    last_ = now;
  }
  void step_ended(const Status& status) const { durations_.observe({}, step_, operation_, status, seconds_between(began_, last_)); }

 private:
  const DurationCells& durations_;
  const Step step_;
  const AdmissionOperation operation_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point last_ = began_;
};

AdmissionChain::AdmissionChain(std::chrono::nanoseconds ready_timeout)
    : durations_(std::make_unique<const DurationCells>()), ready_timeout_(ready_timeout) {}
AdmissionChain::~AdmissionChain() = default;

void AdmissionChain::publish(const Plugins& plugins) {
  auto entries = std::make_shared<Entries>();
  entries->reserve(plugins.size());
  for (const auto& plugin : plugins) entries->push_back(std::make_shared<const Entry>(plugin));
  entries_.set(std::move(entries));
}

std::shared_ptr<const AdmissionChain::Entries> AdmissionChain::entries_for(const AdmissionAttributes& attributes) const {
  if (attributes.context == nullptr || attributes.context->admission == nullptr) return entries_.get();
  return std::static_pointer_cast<const Entries>(attributes.context->admission);
}

bool AdmissionChain::reads_managed_fields(const AdmissionAttributes& attributes) const noexcept {
  const auto entries = entries_for(attributes);
  return std::any_of(entries->begin(), entries->end(), [](const auto& entry) { return entry->plugin()->reads_managed_fields(); });
}

std::vector<std::string> AdmissionChain::names() const {
  const auto entries = entries_.get();
  std::vector<std::string> names;
  names.reserve(entries->size());
  for (const auto& entry : *entries) names.emplace_back(entry->plugin()->name());
  return names;
}

Task<Status> AdmissionChain::admit(AdmissionAttributes& attributes) {
  const auto entries = entries_for(attributes);
  Reinvocation reinvocation(attributes);
  StepClock clock(*durations_, Step::kAdmit, attributes.operation);
  Status admitted = co_await pass(*entries, attributes, clock);
  if (admitted.ok() && reinvocation.wanted()) {
    reinvocation.begin();
    admitted = co_await pass(*entries, attributes, clock);
  }
  clock.step_ended(admitted);
  co_return admitted;
}

Task<Status> AdmissionChain::pass(const Entries& entries, AdmissionAttributes& attributes, StepClock& clock) {
  for (const auto& entry : entries) {
    const AdmissionPlugin& plugin = *entry->plugin();
    if (!entry->takes_part(Step::kAdmit, attributes.operation)) continue;
    if (attributes.reinvocation->again() && !plugin.reinvoked()) continue;
    Status admitted;
    if (!plugin.ready()) admitted = co_await wait_ready(plugin, attributes);
    if (admitted.ok()) {
      if (auto answer = ask_admit_now(plugin, attributes)) {
        admitted = std::move(*answer);
      } else {
        auto asking = ask_admit(plugin, attributes);
        admitted = co_await std::move(asking);
      }
    }
    clock.plugin_ended(*entry, admitted);
    if (!admitted.ok()) co_return admitted;
  }
  co_return Status();
}

Task<Status> AdmissionChain::validate(const AdmissionAttributes& attributes) {
  const auto entries = entries_for(attributes);
  StepClock clock(*durations_, Step::kValidate, attributes.operation);
  Status allowed;
  for (const auto& entry : *entries) {
    const AdmissionPlugin& plugin = *entry->plugin();
    if (!entry->takes_part(Step::kValidate, attributes.operation)) continue;
    if (!plugin.ready()) allowed = co_await wait_ready(plugin, attributes);
    if (allowed.ok()) {
      if (auto answer = ask_validate_now(plugin, attributes)) {
        allowed = std::move(*answer);
      } else {
        auto asking = ask_validate(plugin, attributes);
        allowed = co_await std::move(asking);
      }
    }
    clock.plugin_ended(*entry, allowed);
    if (!allowed.ok()) break;
  }
  clock.step_ended(allowed);
  co_return allowed;
}

bool AdmissionChain::begins(const AdmissionAttributes& attributes) const noexcept {
  const auto entries = entries_for(attributes);
  return std::any_of(entries->begin(), entries->end(), [operation = attributes.operation](const auto& entry) {
    return entry->plugin()->handles(operation) && entry->plugin()->begins(operation);
  });
}

Task<Result<WriteAdmission::Begun>> AdmissionChain::begin(const AdmissionAttributes& attributes) {
  const auto entries = entries_for(attributes);
  Begun begun;
  Status refused;
  for (const auto& entry : *entries) {
    const auto& plugin = entry->plugin();
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
  const auto until = std::chrono::steady_clock::now() + ready_timeout_;
  for (auto pause = kFirstReadyPause; !plugin.ready(); pause = std::min(pause * 2, kLongestReadyPause)) {
    if (std::chrono::steady_clock::now() >= until) co_return admission_forbidden(attributes, "not yet ready to handle request");
    co_await sleep_for(pause);
  }
  co_return Status();
}

}  // namespace backplane
