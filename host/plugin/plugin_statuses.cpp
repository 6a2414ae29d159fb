// PluginRegistry's status of each plugin, running or not.
#include <algorithm>
#include <filesystem>
#include <set>

#include "endpoints/open_watches.hpp"
#include "plugin/content_digest.hpp"
#include "plugin/in_tree.hpp"
#include "plugin/log.hpp"
#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> group_versions_of(const PluginGeneration& generation) {
  std::vector<std::string> out;
  const TargetRef target = generation.target();
  if (!target) return out;
  for (const auto& group : target->groups) {
    for (const auto& version : group.prioritized_versions) out.push_back(GroupVersion{group.group, version}.to_string());
  }
  return out;
}

void describe(PluginStatus& status, const InspectedPlugin& file) {
  status.name = file.display_name();
  status.version = file.display_version();
  status.file = file.path;
  status.findings = file.findings;
  status.in_tree = is_in_tree(status.name, file.path);
  status.requires_.clear();
  if (!file.descriptor) return;
  status.license = file.descriptor->license;
  status.description = file.descriptor->description;
  for (const auto& requirement : file.descriptor->requires_) status.requires_.push_back(requirement.name);
}

std::string former_copy_name(std::string plugin) {
  std::replace(plugin.begin(), plugin.end(), '/', '_');
  std::replace(plugin.begin(), plugin.end(), ':', '+');
  return "former-" + plugin + ".so";
}

}  // namespace

void PluginRegistry::note_start() {
  const auto now = std::chrono::system_clock::now();
  const std::lock_guard lock(mutex_);
  for (const auto& plugin : plan_.plugins) {
    PluginStatus status;
    describe(status, plugin.inspected);
    status.state = plugin.state;
    status.since = now;
    for (const auto& generation : started_) {
      if (!status.runs() || generation->name() != status.name) continue;
      status.build = 1;
      status.group_versions = group_versions_of(*generation);
    }
    records_.push_back(std::move(status));
  }
}

PluginStatus* PluginRegistry::record_of(const std::string& name) {
  PluginStatus* out = nullptr;
  for (auto& each : records_) {
    if (each.name == name && (out == nullptr || each.runs())) out = &each;
  }
  return out;
}

// The caller holds mutex_, and has already changed the members that it guards.
void PluginRegistry::note_change(const PluginChange::Part& part) {
  PluginStatus* record = record_of(part.name);
  if (record == nullptr) record = &records_.emplace_back();
  record->since = std::chrono::system_clock::now();
  record->refused.clear();
  record->group_versions.clear();
  record->last_operation = !part.next ? PluginOperation::kDisabled : part.former ? PluginOperation::kReplaced : PluginOperation::kEnabled;
  if (!part.next) {
    record->state = PluginState::kDisabled;
    return;
  }
  describe(*record, part.file);
  record->state = PluginState::kCommitted;
  ++record->build;
  record->group_versions = group_versions_of(*part.next);
  const auto former = former_builds_.find(part.name);
  record->former_version = former == former_builds_.end() ? "" : former->second.version;
}

// Keeps a copy of the former build for a rollback: its file may have been overwritten, and its private copy is removed with its code.
void PluginRegistry::keep_former(const PluginChange::Part& part) {
  const auto record = status_of(part.name);
  const std::string copy = directory_->path() + "/" + former_copy_name(part.name), made = copy + ".new";
  std::error_code error;
  fs::remove(made, error);
  fs::create_hard_link(part.former->copy(), made, error);
  if (error) fs::copy_file(part.former->copy(), made, error);
  if (!error) fs::rename(made, copy, error);
  if (error) {
    plugin_log().warn("no copy of the former build could be kept, a rollback will not be possible plugin={} error={}", part.name,
                      error.message());
    former_builds_.erase(part.name);
    return;
  }
  former_builds_[part.name] = {copy, record ? record->file : "", record ? record->version : ""};
}

void PluginRegistry::note_refused(const std::string& name, const Status& why) {
  const std::lock_guard lock(mutex_);
  PluginStatus* record = record_of(name);
  if (record == nullptr) return;
  record->refused = why.message();
  record->refused_at = std::chrono::system_clock::now();
}

std::vector<PluginStatus> PluginRegistry::statuses() const {
  const std::lock_guard lock(mutex_);
  auto out = records_;
  for (auto& status : out) {
    status.placement = placement_of(options_.placements, status.name);
    if (!status.runs()) continue;
    const auto found = std::find_if(started_.begin(), started_.end(), [&](const auto& each) { return each->name() == status.name; });
    if (found == started_.end()) continue;
    status.process = (*found)->process();
    status.threads = (*found)->threads();
    status.tasks = (*found)->tasks().running();
    status.cpu_time = (*found)->cpu_time();
    status.mapped_bytes = (*found)->mapped_bytes();
    const TargetRef target = (*found)->target();
    if (target && target->watches) status.open_watches = target->watches->size();
  }
  return out;
}

std::optional<PluginStatus> PluginRegistry::status_of(const std::string& name) const {
  std::optional<PluginStatus> out;
  for (auto& status : statuses()) {
    if (status.name == name && (!out || status.runs())) out = std::move(status);
  }
  return out;
}

std::string PluginRegistry::full_name(const std::string& name) const {
  std::set<std::string> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& record : records_) all.insert(record.name);
  }
  if (all.contains(name)) return name;
  // A file that is new since the start has no record.
  Findings ignored;
  for (const auto& file : inspect_directories(options_.directories, ignored)) {
    if (file.descriptor) all.insert(file.descriptor->name);
  }
  std::erase_if(all, [&](const std::string& each) { return each != name && !each.ends_with("/" + name); });
  return all.size() == 1 ? *all.begin() : name;
}

bool PluginRegistry::runs_file(const std::string& name, const std::string& file) const {
  const GenerationRef generation = find(name);
  if (!generation) return false;
  const auto running = content_digest(generation->copy()), offered = content_digest(file);
  return running && running == offered;
}

Result<std::string> PluginRegistry::file_of(const std::string& name) const {
  std::error_code error;
  if (const auto status = status_of(name); status && !has_errors(status->findings) && fs::exists(status->file, error)) return status->file;
  Findings ignored;
  for (const auto& plugin : inspect_directories(options_.directories, ignored)) {
    if (plugin.descriptor && plugin.descriptor->name == name) return plugin.path;
  }
  return not_found("", "plugin", name);
}

}  // namespace backplane
