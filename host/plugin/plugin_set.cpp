#include "plugin/plugin_set.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/fenced.hpp"
#include "plugin/loader.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_code.hpp"
#include "plugin/staging_host.hpp"

namespace backplane {

namespace {

// A plugin with the host it sees.  The plugin goes first.
struct RunningPlugin {
  std::unique_ptr<StagingHost> host;
  std::unique_ptr<Plugin> plugin;
  bool validated = false;
};

// A lifecycle call, and the codes of its two ways to fail.
struct LifecycleCall {
  const char *name, *shown;
  std::string_view failed, threw;
};
constexpr LifecycleCall kConfigure{"configure", "configure()", finding_code::kConfigureFailed, finding_code::kConfigureThrew};
constexpr LifecycleCall kProvision{"provision", "provision()", finding_code::kProvisionFailed, finding_code::kProvisionThrew};
constexpr LifecycleCall kValidate{"validate", "validate()", finding_code::kValidateFailed, finding_code::kValidateThrew};

}  // namespace

struct OpenedPlugins::State {
  PlanOptions options;
  Findings general;
  Plan plan;
  GenerationDirectory directory;                           // of the copies that are mapped
  std::map<std::size_t, std::unique_ptr<Plugin>> plugins;  // by index in the plan; those that could not be mapped are left out
};

OpenedPlugins::OpenedPlugins(std::unique_ptr<State> state) : state_(std::move(state)) {}
OpenedPlugins::~OpenedPlugins() = default;
OpenedPlugins::OpenedPlugins(OpenedPlugins&&) noexcept = default;
OpenedPlugins& OpenedPlugins::operator=(OpenedPlugins&&) noexcept = default;

struct LoadedPlugins::State {
  GenerationDirectory directory;
  TakenNames names;
  std::map<std::size_t, RunningPlugin> running;  // by index in the plan
  std::vector<std::size_t> started;              // in this order

  void drop(std::size_t i) {
    const auto entry = running.find(i);
    if (entry == running.end()) return;
    entry->second.plugin.reset();
    running.erase(entry);
    std::erase(started, i);
  }
  ~State() {
    while (!started.empty()) drop(started.back());
  }
};

LoadedPlugins::LoadedPlugins() = default;
LoadedPlugins::~LoadedPlugins() = default;
LoadedPlugins::LoadedPlugins(LoadedPlugins&&) noexcept = default;
LoadedPlugins& LoadedPlugins::operator=(LoadedPlugins&&) noexcept = default;

// Takes a plan through the lifecycle.
class PluginStarter {
 public:
  PluginStarter(OpenedPlugins::State& opened, HostServices& services)
      : plan_(opened.plan), options_(opened.options), opened_(opened.plugins), services_(services) {
    state_.reset(new LoadedPlugins::State{std::move(opened.directory), TakenNames(services.taken), {}, {}});
  }

  // Every step may take plugins out of the plan; it then begins again with those that are left, which only become fewer.
  void run(PluginSet& set) {
    set.scheme = std::make_shared<Scheme>();
    while (!start_next() || !validate_next()) {
      if (!plan_.fatal.empty()) return;
    }
    merge_schemes(*set.scheme);
    if (!plan_.fatal.empty()) return;
    commit(set);
    set.plugins.state_ = std::move(state_);
  }

 private:
  // Configure and provision what is not running yet; false when one failed, or could not be mapped.
  bool start_next() {
    for (const auto i : plan_.start_order) {
      if (!state_->running.contains(i) && !start(i)) {
        take_out(i);
        return false;
      }
    }
    return true;
  }

  bool validate_next() {
    for (const auto i : plan_.start_order) {
      auto& running = state_->running.at(i);
      if (running.validated) continue;
      running.validated = call(i, kValidate, [&] { return running.plugin->validate(); });
      if (!running.validated) {
        take_out(i);
        return false;
      }
    }
    return true;
  }

  bool start(std::size_t i) {
    auto& planned = plan_.plugins[i];
    std::unique_ptr<Plugin> plugin = std::move(opened_[i]);
    if (!plugin) return false;
    auto& running = state_->running[i];
    state_->started.push_back(i);
    running.host = std::make_unique<StagingHost>(planned.name(), services_, state_->names);
    running.plugin = std::move(plugin);
    const auto configuration = services_.configuration ? services_.configuration(planned.name()) : std::string();
    return call(i, kConfigure, [&] { return running.plugin->configure(configuration); }) &&
           call(i, kProvision, [&] { return running.plugin->provision(*running.host); });
  }

  template <class Function>
  bool call(std::size_t i, const LifecycleCall& what, Function&& function) {
    const LifecycleCallScope running(plan_.plugins[i].name(), what.shown);
    const auto result = fenced_status(std::forward<Function>(function));
    if (result.status.ok()) return true;
    std::string message = std::string(what.name) + "() " + (result.threw ? "threw: " : "failed: ") + result.status.message();
    const bool duplicate = !result.threw && result.status.reason() == Reason::kAlreadyExists;
    const auto code = duplicate ? finding_code::kDuplicateRegistration : result.threw ? what.threw : what.failed;
    fail(i, code, what.name, std::move(message));
    return false;
  }

  void fail(std::size_t i, std::string_view code, std::string field, std::string message) {
    plan_.plugins[i].inspected.findings.push_back({code, Severity::kError, std::move(field), {}, {}, std::move(message), {}});
  }

  // Makes a new plan without `i`, and rolls back in reverse what no longer has a place in it.
  void take_out(std::size_t i) {
    plan_.plugins[i].state = PluginState::kFailed;
    replan(plan_, options_);
    const auto started = state_->started;
    for (auto at = started.rbegin(); at != started.rend(); ++at) {
      if (plan_.plugins[*at].runs()) continue;
      state_->drop(*at);
      state_->names.give_back(plan_.plugins[*at].name());
    }
  }

  // Kinds registered twice show only here; what fails comes out before anything has been handed over.
  void merge_schemes(Scheme& scheme) {
    const auto order = plan_.start_order;
    for (const auto i : order) {
      if (!plan_.plugins[i].runs()) continue;
      auto status = scheme.merge(std::move(state_->running.at(i).host->staged_scheme()));
      if (status.ok()) continue;
      fail(i, finding_code::kDuplicateRegistration, "scheme", "registers a kind twice: " + status.message());
      take_out(i);
    }
  }

  void commit(PluginSet& set) {
    std::map<std::size_t, StagedRegistrations> staged;
    for (const auto i : plan_.start_order) staged[i] = state_->running.at(i).host->commit(*set.scheme);
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    for (const auto i : plan_.start_order) {
      append(set.authenticators, staged[i].authenticators);
      append(set.authorizers, staged[i].authorizers);
      append(set.admission, staged[i].admission);
      append(set.audit, staged[i].audit);
      if (staged[i].storage_transformers && services_.set_storage_transformers) {
        // Only one plugin could register some.
        (void)services_.set_storage_transformers(plan_.plugins[i].name(), std::move(staged[i].storage_transformers));
      }
      if (staged[i].request_gate) set.request_gate = std::move(staged[i].request_gate);
      if (staged[i].peer_servers) set.peer_servers = std::move(staged[i].peer_servers);
      set.storage_backends.merge(staged[i].storage_backends);
      plan_.plugins[i].state = PluginState::kCommitted;
    }
    for (const auto i : plan_.chain) set.delegates.push_back(std::move(staged[i].target));
  }

  Plan& plan_;
  const PlanOptions& options_;
  std::map<std::size_t, std::unique_ptr<Plugin>>& opened_;
  HostServices& services_;
  std::unique_ptr<LoadedPlugins::State> state_;
};

namespace {

void log_report(const std::vector<PluginReport>& report, const Findings& general) {
  std::size_t loaded = 0;
  for (const auto& finding : general) plugin_log().warn("{}", to_line(finding));
  for (const auto& plugin : report) {
    if (plugin.state == PluginState::kDisabled) {
      plugin_details().info("plugin disabled plugin={}", plugin.name);
      continue;
    }
    for (const auto& finding : plugin.findings) {
      if (finding.severity == Severity::kError) {
        plugin_log().error("plugin not loaded plugin={} state={} file={} {}", plugin.name, state_name(plugin.state), plugin.path,
                           to_line(finding));
      } else {
        plugin_log().warn("plugin={} {}", plugin.name, to_line(finding));
      }
    }
    if (plugin.state != PluginState::kCommitted) continue;
    ++loaded;
    plugin_details().info("plugin loaded plugin={} version={}", plugin.name, plugin.version);
  }
  plugin_log().info("Loaded plugins count={}", loaded);
}

Status fatal_status(const Plan& plan) {
  std::string message;
  for (const auto& finding : plan.fatal) message += (message.empty() ? "" : "\n") + to_line(finding);
  return Status(Reason::kInternalError, message);
}

}  // namespace

std::vector<Capability> host_capabilities() {
  const auto version = Version::from_packed(BACKPLANE_SDK_VERSION);
  return {{"host", version}, {"sdk", version}};
}

std::vector<PluginReport> make_report(const Plan& plan) {
  std::vector<PluginReport> report;
  for (const auto& plugin : plan.plugins) {
    PluginReport row;
    row.name = plugin.inspected.display_name();
    row.version = plugin.inspected.display_version();
    row.path = plugin.inspected.path;
    row.state = plugin.state;
    row.code = std::string(plugin.code());
    row.findings = plugin.inspected.findings;
    for (const auto& finding : row.findings) {
      if (finding.severity != Severity::kError) continue;
      row.message = to_line(finding);
      break;
    }
    report.push_back(std::move(row));
  }
  return report;
}

std::string default_plugin_directory() {
  std::error_code error;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return (binary.parent_path().parent_path() / "lib" / "backplane" / "plugins").string();
}

Result<OpenedPlugins> open_plugins(const PluginOptions& options) {
  auto directory = GenerationDirectory::create(options.generation_dir);
  if (!directory.ok()) return std::move(directory).status();
  std::unique_ptr<OpenedPlugins::State> opened(new OpenedPlugins::State{
      {options.disabled, options.required, host_capabilities(), options.storage}, {}, {}, std::move(directory).value(), {}});
  auto inspected = inspect_directories(options.directories, opened->general);
  opened->plan = plan_plugins(std::move(inspected), opened->options);
  opened->general.insert(opened->general.end(), opened->plan.general.begin(), opened->plan.general.end());
  if (opened->plan.fatal.empty()) {
    for (const auto i : opened->plan.start_order) {
      auto& file = opened->plan.plugins[i].inspected;
      opened->plugins[i] = load_plugin(file, opened->directory, file.findings);
    }
  }
  return OpenedPlugins(std::move(opened));
}

Result<PluginSet> load_plugins(OpenedPlugins opened, HostServices& services) {
  OpenedPlugins::State& files = *opened.state_;
  PluginSet set;
  set.general = std::move(files.general);
  if (files.plan.fatal.empty()) PluginStarter(files, services).run(set);
  set.report = make_report(files.plan);
  log_report(set.report, set.general);
  if (!files.plan.fatal.empty()) return fatal_status(files.plan);
  return set;
}

}  // namespace backplane
