// Snapshots of running plugins, and the reasons why the plugin of a snapshot does not run.
#include <algorithm>

#include "plugin/plugin_registry.hpp"

namespace backplane {
namespace {

const Finding* reported(const PluginStatus& status) {
  const auto found = std::find_if(status.findings.begin(), status.findings.end(),
                                  [](const Finding& finding) { return finding.severity != Severity::kInfo; });
  return found != status.findings.end() ? &*found : nullptr;
}

std::string code_and_message(const Finding& finding) { return std::string(finding.code) + " " + finding.message; }

}  // namespace

std::vector<PluginSnapshot> PluginRegistry::snapshots() const {
  std::vector<PluginSnapshot> out;
  for (const PluginStatus& status : statuses()) {
    if (!status.runs() || status.in_tree) continue;
    const GenerationRef generation = find(status.name);
    if (!generation || !generation->target()) continue;
    PluginSnapshot snapshot{status.name, status.version, status.file, {}};
    snapshot.kinds = kinds_of(generation->rows().stored_kinds, *generation->target());
    if (!snapshot.kinds.empty()) out.push_back(std::move(snapshot));
  }
  return out;
}

PluginAbsence PluginRegistry::absence_of(const PluginSnapshot& snapshot) const {
  PluginAbsence out{snapshot.plugin, "no file of it is in the plugin directories",
                    "install its file again, or remove its groups with backplane plugin forget " + snapshot.plugin};
  const auto all = statuses();
  auto found = std::find_if(all.begin(), all.end(), [&](const PluginStatus& each) { return each.name == snapshot.plugin; });
  // A damaged file has no plugin name, so the name of the file is used.
  if (found == all.end()) {
    found = std::find_if(all.begin(), all.end(), [&](const PluginStatus& each) { return !each.runs() && each.file == snapshot.file; });
  }
  if (found == all.end()) return out;
  const std::string enable = "run backplane plugin enable " + snapshot.plugin;
  const Finding* finding = reported(*found);
  if (found->runs()) {
    out.why = "it is disabled";  // the change is being made
    out.fix = enable;
  } else if (finding != nullptr) {
    out.why = code_and_message(*finding);
    out.fix = finding->fix.empty() ? "repair it, then " + enable : finding->fix;
  } else if (!found->refused.empty()) {
    out.why = found->refused;
    out.fix = "repair it, then " + enable;
  } else if (found->state == PluginState::kDisabled) {
    out.why = "it is disabled";
    out.fix = enable;
  } else {
    out.why = "its state is " + std::string(state_name(found->state));
    out.fix = enable;
  }
  return out;
}

}  // namespace backplane
