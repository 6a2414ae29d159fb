#include "app/plugin_actions.hpp"

#include <array>

#include "app/log.hpp"
#include "app/server_parts.hpp"
#include "backplane/core/json_access.hpp"

namespace backplane {
namespace {

struct ActionRow {
  PluginAction action;
  std::string_view name, done;
};
constexpr std::array<ActionRow, 6> kActions = {{{PluginAction::kReload, "reload", "reloaded"},
                                                {PluginAction::kUpgrade, "upgrade", "upgraded"},
                                                {PluginAction::kRollback, "rollback", "rolled back"},
                                                {PluginAction::kDisable, "disable", "disabled"},
                                                {PluginAction::kEnable, "enable", "enabled"},
                                                {PluginAction::kForget, "forget", "forgotten"}}};

const ActionRow& row_of(PluginAction action) noexcept { return kActions[static_cast<std::size_t>(action)]; }

// A plugin in quarantine counts as running, although it has no process.
bool in_quarantine(const std::optional<PluginStatus>& status) {
  return status && status->process && status->process->state == runner::RunnerState::kQuarantined;
}

std::string versions_of(const PluginActed& acted) {
  if (acted.version.empty()) return acted.former_version;
  if (acted.former_version.empty() || acted.former_version == acted.version) return acted.version;
  return acted.former_version + " -> " + acted.version;
}

std::string message_of(const PluginRequest& request, const PluginActed& acted) {
  std::string out = "plugin " + acted.name + (request.dry_run ? " can be " : " ") + std::string(row_of(request.action).done);
  out += ": version " + versions_of(acted);
  if (!acted.file.empty()) out += ", file " + acted.file;
  if (!acted.replaced_too.empty()) out += "; reloaded with it, because they depend on it: " + acted.replaced_too;
  if (!acted.withdrawn_too.empty()) out += "; disabled with it, because they require it: " + acted.withdrawn_too;
  return out;
}

}  // namespace

std::string_view action_name(PluginAction action) noexcept { return row_of(action).name; }

std::optional<PluginAction> action_of(std::string_view name) noexcept {
  for (const auto& row : kActions) {
    if (row.name == name) return row.action;
  }
  return std::nullopt;
}

Object acted_to_json(const PluginActed& acted) {
  return {{"plugin", acted.name},
          {"version", acted.version},
          {"formerVersion", acted.former_version},
          {"file", acted.file},
          {"reloadedWithIt", acted.replaced_too},
          {"disabledWithIt", acted.withdrawn_too},
          {"message", acted.message}};
}

Result<PluginRequest> request_of(PluginAction action, const Object& body) {
  PluginRequest request;
  request.action = action;
  for (const auto& member : body) {
    const std::string_view key = member.key();
    const Value& value = member.value();
    if (key == "name" && value.is_string()) {
      request.name = std::string(value.get_string());
    } else if (key == "file" && value.is_string()) {
      request.file = std::string(value.get_string());
    } else if (key == "dryRun" && value.is_bool()) {
      request.dry_run = value.get_bool();
    } else if (key == "force" && value.is_bool() && action == PluginAction::kForget) {
      request.force = value.get_bool();
    } else if (key == "cascade" && value.is_bool() && action == PluginAction::kDisable) {
      request.cascade = value.get_bool();
    } else {
      return bad_request("unknown member or wrong type: " + backplane::quoted(key) +
                         "; known: name and file (texts), dryRun, force (forget) and cascade (disable) (true or false)");
    }
  }
  if (request.name.empty()) return bad_request("name: must be the name of a plugin");
  if (action == PluginAction::kUpgrade && request.file.empty()) return bad_request("file: upgrade needs the file of the new build");
  if (request.file.find('\0') != std::string::npos) return bad_request("file: must not have a zero byte");
  if (!request.file.empty() && !request.file.starts_with('/')) return bad_request("file: must be an absolute path on the server's machine");
  const bool takes_file = action != PluginAction::kRollback && action != PluginAction::kDisable && action != PluginAction::kForget;
  if (!request.file.empty() && !takes_file) return bad_request(std::string(action_name(action)) + " takes no file");
  return request;
}

// ---- actions on the server

Array ServerParts::plugin_statuses() const {
  Array out;
  for (const auto& status : plugins->statuses()) out.emplace_back(status_to_json(status));
  return out;
}

void ServerParts::show_plugins() {
  const std::lock_guard lock(showing_plugins);
  plugin_objects.update(plugins->statuses(), [this](const std::string& plugin) { return hooks.progress_of(plugin); });
}

// A changed file does not start a plugin that the operator has disabled.
void ServerParts::plugin_file_changed(const std::string& file) {
  const InspectedPlugin inspected = inspect_plugin(file);
  if (!inspected.descriptor) {
    app_log().error("a changed plugin file cannot be used file={} {}", file,
                    inspected.findings.empty() ? "" : to_line(inspected.findings.front()));
    return;
  }
  const std::string& name = inspected.descriptor->name;
  const auto status = plugins->status_of(name);
  if (status && status->state == PluginState::kDisabled) {
    app_log().info("the file of a disabled plugin has changed plugin={} file={}", name, file);
    return;
  }
  if (plugins->runs_file(name, file)) return;
  const bool runs = status && status->runs();
  (void)act({runs ? PluginAction::kReload : PluginAction::kEnable, name, file});
}

Result<PluginChange> ServerParts::stage(const PluginRequest& request) {
  const std::string& name = request.name;
  if (request.action == PluginAction::kDisable) return plugins->stage_withdrawal(name, request.cascade);
  if (request.action == PluginAction::kRollback) return plugins->stage_rollback(name);
  std::string file = request.file;
  if (file.empty()) {
    auto found = plugins->file_of(name);
    if (!found.ok()) return std::move(found.status());
    file = std::move(*found);
  }
  const bool adds = request.action == PluginAction::kEnable && !in_quarantine(plugins->status_of(name));
  return adds ? plugins->stage_addition(name, file) : plugins->stage_replacement(name, file);
}

Result<PluginActed> ServerParts::act(PluginRequest request) {
  const std::lock_guard lock(changing_plugins);
  request.name = plugins->full_name(request.name);
  if (request.action == PluginAction::kForget) return forget_plugin(request);
  PluginActed acted;
  acted.name = request.name;
  if (const auto status = plugins->status_of(request.name); status && status->runs()) acted.former_version = status->version;
  const bool clears_quarantine = request.action == PluginAction::kEnable || in_quarantine(plugins->status_of(request.name));
  auto staged = stage(request);
  if (!staged.ok()) {
    app_log().error("plugin not changed plugin={} action={} error={:?}", request.name, action_name(request.action),
                    staged.status().message());
    plugins->note_refused(request.name, staged.status());
    show_plugins();
    return std::move(staged.status());
  }
  if (clears_quarantine && request.action != PluginAction::kDisable && !request.dry_run) plugins->clear_quarantine(request.name);
  acted.version = staged->of_name().file.display_version();
  acted.file = staged->of_name().file.path;
  acted.replaced_too = staged->dependants(false);
  acted.withdrawn_too = staged->dependants(true);
  acted.message = message_of(request, acted);
  if (request.dry_run) {
    plugins->abandon_change(std::move(*staged));
    return acted;
  }
  Status changed = change_plugin(std::move(*staged));
  if (!changed.ok()) plugins->note_refused(request.name, changed);
  show_plugins();
  if (!changed.ok()) return changed;
  return acted;
}

}  // namespace backplane
