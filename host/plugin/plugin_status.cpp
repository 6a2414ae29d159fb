#include "plugin/plugin_status.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/text.hpp"
#include "plugin/plugin_report.hpp"

namespace backplane {
namespace {

Array texts_to_json(const std::vector<std::string>& texts) {
  Array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

Array all_findings(const Findings& findings) {
  Array out;
  for (const auto& finding : findings) out.emplace_back(finding_to_json(finding));
  return out;
}

std::string column(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text + "  ";
}

std::string or_dash(std::string_view text) { return text.empty() ? "-" : std::string(text); }

std::vector<std::string> row_of(const Object& status) {
  const Value* build = status.if_contains("build");
  return {std::string(get_string(status, "name")),
          or_dash(get_string(status, "version")),
          std::string(get_string(status, "state")),
          build != nullptr && build->is_number() ? std::to_string(build->to_number<std::int64_t>()) : "-",
          or_dash(get_string(status, "placement")),
          or_dash(joined(texts_of(status, "groupVersions"), ",")),
          std::string(get_string(status, "file"))};
}

// The findings of a plugin, the end of its process, and the reason why its last change was refused.
std::string notes_of(const Object& status) {
  std::string out;
  each(status, "findings", [&](const Object& finding, std::size_t) {
    if (get_string(finding, "severity") == "info") return;
    out.append("  ").append(get_string(finding, "code")).append(" ").append(get_string(finding, "message")).append("\n");
  });
  const std::string_view refused = get_string(status, "refused");
  const std::string_view crash = get_string(status, "lastCrash");
  if (!crash.empty())
    out.append("  its process ended at ").append(get_string(status, "lastCrashAt")).append(": ").append(crash).append("\n");
  const std::string_view until = get_string(status, "quarantinedUntil");
  if (!until.empty()) {
    out.append("  in quarantine until ").append(until).append("; backplane plugin enable ").append(get_string(status, "name"));
    out.append(" starts it at once\n");
  }
  if (!refused.empty()) out.append("  refused at ").append(get_string(status, "refusedAt")).append(": ").append(refused).append("\n");
  return out;
}

}  // namespace

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::string time_text(PluginStatus::Time time) { return format_rfc3339(std::chrono::system_clock::to_time_t(time)); }

std::string placement_text(const PluginStatus& status) {
  std::string out(placement_name(status.placement));
  if (status.process) out += "/" + (status.process->pid > 0 ? std::to_string(status.process->pid) : "-");
  return out;
}

std::string no_process_text(const PluginStatus& status) {
  if (!status.process || status.process->state == runner::RunnerState::kUp) return {};
  std::string out = "its process has ended (" + runner::crash_text(status.process->last_crash) + ")";
  if (status.process->state != runner::RunnerState::kQuarantined) return out + " and is being restarted";
  return out + "; it is in quarantine until " + time_text(status.process->next_start);
}

std::string_view state_text(const PluginStatus& status) noexcept {
  const bool quarantined = status.runs() && status.process && status.process->state == runner::RunnerState::kQuarantined;
  return quarantined ? "Quarantined" : state_name(status.state);
}

Object status_to_json(const PluginStatus& status) {
  Object out;
  out["name"] = status.name;
  out["version"] = status.version;
  out["state"] = std::string(state_text(status));
  out["since"] = time_text(status.since);
  out["file"] = status.file;
  out["inTree"] = status.in_tree;
  out["build"] = status.build;
  if (!status.former_version.empty()) out["formerVersion"] = status.former_version;
  out["groupVersions"] = texts_to_json(status.group_versions);
  out["requires"] = texts_to_json(status.requires_);
  if (status.runs()) {
    out["threads"] = status.threads;
    out["tasks"] = status.tasks;
    out["openWatches"] = status.open_watches;
    out["cpuSeconds"] = seconds_of(status.cpu_time);
    out["mappedBytes"] = status.mapped_bytes;
  }
  out["placement"] = placement_text(status);
  if (status.process) {
    const runner::RunnerStatus& process = *status.process;
    if (process.pid > 0) out["pid"] = process.pid;
    out["restarts"] = process.restarts;
    if (process.state == runner::RunnerState::kQuarantined) out["quarantinedUntil"] = time_text(process.next_start);
    if (!process.last_crash.how.empty()) {
      out["lastCrash"] = runner::crash_text(process.last_crash);
      out["lastCrashAt"] = time_text(process.last_crash.time);
    }
  }
  if (!status.refused.empty()) {
    out["refused"] = status.refused;
    out["refusedAt"] = time_text(status.refused_at);
  }
  out["findings"] = all_findings(status.findings);
  return out;
}

std::string statuses_as_text(const Array& statuses) {
  std::vector<std::vector<std::string>> rows{{"NAME", "VERSION", "STATE", "BUILD", "PLACEMENT", "GROUPS", "FILE"}};
  for (const auto& status : statuses) rows.push_back(row_of(status.get_object()));
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line;
    for (std::size_t cell = 0; cell < rows[i].size(); ++cell) line += column(rows[i][cell], widths[cell]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (i > 0) out += notes_of(statuses[i - 1].get_object());
  }
  return out;
}

}  // namespace backplane
