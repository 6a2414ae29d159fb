#include "plugin/plugin_registry.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "plugin/carried_documents.hpp"
#include "plugin/content_digest.hpp"
#include "plugin/in_tree.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_code.hpp"
#include "plugin/plugin_start.hpp"

namespace backplane {
namespace {

// The merged scheme, and holds of the plugins whose conversion functions it has.
struct MergedScheme {
  std::vector<Hold> holds;  // declared first, so released last
  Scheme scheme;
};

template <class Item>
void append(std::vector<Item>& to, const std::vector<Item>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void log_report(const std::vector<PluginReport>& report, const Findings& general) {
  std::size_t loaded = 0;
  for (const auto& finding : general) plugin_log().warn("{}", to_line(finding));
  for (const auto& plugin : report) {
    if (plugin.state == PluginState::kDisabled) {
      plugin_details().info("plugin disabled plugin={}", plugin.name);
      for (const auto& finding : plugin.findings) plugin_log().warn("plugin={} {}", plugin.name, to_line(finding));
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

Result<std::shared_ptr<const Scheme>> merge_schemes(const std::vector<GenerationRef>& started, GenerationRef* culprit) {
  auto merged = std::make_shared<MergedScheme>();
  for (const auto& generation : started) {
    merged->holds.push_back(generation->hold());
    Status status = merged->scheme.merge(generation->host().scheme());
    if (status.ok()) continue;
    if (culprit != nullptr) *culprit = generation;
    return status;
  }
  return std::shared_ptr<const Scheme>(merged, &merged->scheme);
}

Result<PluginRowsRef> collect_rows(const std::vector<GenerationRef>& started, const std::vector<GenerationRef>& chain) {
  auto rows = std::make_shared<PluginRows>();
  auto scheme = merge_schemes(started);
  if (!scheme.ok()) return std::move(scheme.status());
  rows->scheme = std::move(*scheme);
  for (const auto& generation : chain) rows->delegates.push_back(generation->target());
  for (const auto& generation : started) {
    const StagedRegistrations& own = generation->rows();
    append(rows->authenticators, own.authenticators);
    append(rows->authorizers, own.authorizers);
    if (own.authorizer_order) rows->authorizer_order = own.authorizer_order;
    append(rows->admission, own.admission);
    rows->admission_owners.resize(rows->admission.size(), generation);
    append(rows->audit, own.audit);
    rows->storage_backends.insert(own.storage_backends.begin(), own.storage_backends.end());
    if (own.storage_transformers) {
      rows->transforming_plugin = generation->name();
      rows->storage_transformers = own.storage_transformers;
    }
    if (own.request_gate) rows->request_gate = own.request_gate;
    if (own.peer_servers) rows->peer_servers = own.peer_servers;
  }
  return PluginRowsRef(std::move(rows));
}

// ---- startup

PluginRegistry::PluginRegistry() = default;

Result<std::unique_ptr<PluginRegistry>> PluginRegistry::open(PluginOptions options) {
  auto directory = GenerationDirectory::create(options.generation_dir);
  if (!directory.ok()) return std::move(directory).status();
  auto registry = std::make_unique<PluginRegistry>();
  PluginRegistry& own = *registry;
  own.options_ = std::move(options);
  own.plan_options_ = {own.options_.disabled, own.options_.required, host_capabilities(), own.options_.storage,
                       own.options_.required_by_flags};
  for (const Capability& each : own.options_.more_capabilities) own.plan_options_.host_capabilities.push_back(each);
  own.directory_ = std::move(directory).value();
  auto inspected = inspect_directories(own.options_.directories, own.general_);
  own.history_ = PluginHistory::open(own.options_.history_dir);
  if (const int descriptor = own.history_.crash_file(); descriptor >= 0) record_crashes_in(descriptor);
  own.leave_out(inspected);
  own.plan_ = plan_plugins(std::move(inspected), own.plan_options_);
  own.general_.insert(own.general_.end(), own.plan_.general.begin(), own.plan_.general.end());
  own.check_placements();
  if (own.plan_.fatal.empty()) {
    own.probe_new_files();
    for (const auto i : own.plan_.start_order) {
      auto& file = own.plan_.plugins[i].inspected;
      if (has_errors(file.findings)) continue;
      own.opened_[i] = own.load(file, file.findings);
    }
  }
  return registry;
}

Status PluginRegistry::start(HostServices& services) {
  services_ = &services;
  names_.emplace(services.taken);
  if (plan_.fatal.empty()) PluginStart(*this).run();
  opened_.clear();
  report_ = make_report(plan_);
  log_report(report_, general_);
  calls_.stop();
  note_start();
  if (!plan_.fatal.empty()) return fatal_status(plan_);
  auto rows = collect_rows(started_, chain_);
  if (!rows.ok()) return std::move(rows.status());
  rows_.set(std::move(*rows));
  return {};
}

LoadedPlugin PluginRegistry::load(const InspectedPlugin& file, Findings& findings) {
  const std::string name = file.descriptor->name;
  if (is_in_tree(name, file.path)) return load_plugin(file, *directory_, findings);
  const auto found = digests_.find(file.path);
  const std::string digest = found == digests_.end() ? std::string() : found->second;
  note_build(name, {file.path, file.display_version(), digest});
  InspectedPlugin wanted = file;
  const bool checked_here = !has_checked_documents(file);
  if (checked_here) {
    const std::lock_guard lock(history_mutex_);
    if (history_.has_checked(digest)) wanted.checked_digest = digest;
  }
  const std::size_t former_findings = findings.size();
  LoadedPlugin loaded = in_runner(name) ? load_into_runner(wanted, findings) : load_within_limit(wanted, findings);
  if (!loaded || !checked_here || !wanted.checked_digest.empty() || findings.size() != former_findings) return loaded;
  // The file may have changed after its digest was made.
  if (content_digest(loaded.code.copy()) != digest) return loaded;
  const std::lock_guard lock(history_mutex_);
  history_.note_checked(digest);
  return loaded;
}

LoadedPlugin PluginRegistry::load_within_limit(const InspectedPlugin& file, Findings& findings) {
  const std::string name = file.descriptor->name;
  struct Loading {
    InspectedPlugin file;
    LoadedPlugin loaded;
  };
  const auto loading = std::make_shared<Loading>(Loading{file, {}});
  loading->file.findings = findings;
  const auto call = [loading, &directory = *directory_] {
    loading->loaded = load_plugin(loading->file, directory, loading->file.findings);
  };
  const auto limit = options_.call_limit;
  if (!calls_.run(call, limit)) {
    const auto running = running_lifecycle_call();
    findings.push_back(timed_out("load", running && running->plugin == name ? running->call : "loading", limit));
    return {};
  }
  findings = std::move(loading->file.findings);
  return std::move(loading->loaded);
}

GenerationRef PluginRegistry::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(started_.begin(), started_.end(), [&](const auto& each) { return each->name() == name; });
  return found == started_.end() ? nullptr : *found;
}

Executor* PluginRegistry::executor_of(const std::string& name) const {
  const GenerationRef generation = find(name);
  return generation ? &generation->executor() : nullptr;
}

// ---- shutdown

void PluginRegistry::start_loops() {
  const std::lock_guard lock(mutex_);
  for (const auto& generation : started_) generation->start_loops();
}

void PluginRegistry::stop_tasks() {
  const std::lock_guard lock(mutex_);
  for (const auto& generation : started_) generation->stop_tasks();
}

Task<void> PluginRegistry::wait_tasks() {
  std::vector<GenerationRef> generations;
  {
    const std::lock_guard lock(mutex_);
    generations = started_;
  }
  for (const auto& generation : generations) {
    auto waiting = generation->tasks().wait_all();
    co_await std::move(waiting);
  }
}

std::size_t PluginRegistry::running_tasks() const {
  const std::lock_guard lock(mutex_);
  std::size_t running = 0;
  for (const auto& generation : started_) running += generation->tasks().running();
  return running;
}

std::vector<std::string> PluginRegistry::stop_loops(std::chrono::nanoseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::vector<GenerationRef> generations;
  {
    const std::lock_guard lock(mutex_);
    generations = started_;
  }
  {
    // A build that could not be retired may have a call that does not end.
    if (stop_waiting_.fired()) (void)wait_retired(limit);
    const std::lock_guard lock(retiring_mutex_);
    generations.insert(generations.end(), kept_.begin(), kept_.end());
  }
  // All loops are stopped before the first is waited for, so that a blocked one does not use up the time of the others.
  for (const auto& generation : generations) (void)generation->stop_loops(std::chrono::nanoseconds(0));
  std::vector<std::string> stuck;
  for (const auto& generation : generations) {
    const auto left = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(until - std::chrono::steady_clock::now()));
    for (auto& name : generation->stop_loops(left)) stuck.push_back(std::move(name));
  }
  return stuck;
}

PluginRegistry::~PluginRegistry() {
  end_retirement_waits();
  history_.end_startup();  // it ends in order
  for (auto& thread : retirers_) thread.join();
  if (unmapping_) unmapping_->stop();
  rows_.set(std::make_shared<const PluginRows>());
  chain_.clear();
  while (!started_.empty()) started_.pop_back();
}

}  // namespace backplane
