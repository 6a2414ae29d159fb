#include "plugin/plugin_report.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace backplane {

namespace {

std::string version_of(const InspectedPlugin& plugin) {
  auto version = plugin.display_version();
  return version.empty() ? "-" : version;
}

std::string document(const Value& value) { return pretty_json(to_json(value)); }

// Columns as wide as their widest cell, two spaces apart.
class TextTable {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string str(const std::string& indent = {}) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line = indent;
      for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

const char* edge_name(PlanEdge::Kind kind) {
  switch (kind) {
    case PlanEdge::Kind::kRequires:
      return "requires";
    case PlanEdge::Kind::kOptional:
      return "wants";
    case PlanEdge::Kind::kInFrontOf:
    case PlanEdge::Kind::kBehind:
      break;
  }
  return "in front of";
}

void add_findings(const Findings& findings, TextTable& table) {
  for (const auto& f : findings) {
    std::string what = f.message;
    if (!f.fix.empty()) what += "; " + f.fix;
    table.row({std::string(f.code), f.field, f.found.empty() ? "" : "found " + f.found, f.wanted.empty() ? "" : "wanted " + f.wanted,
               std::move(what)});
  }
}

Array findings_to_json(const Findings& findings) {
  Array out;
  for (const auto& finding : findings) out.emplace_back(finding_to_json(finding));
  return out;
}

Object plugin_to_json(const PlannedPlugin& plugin) {
  Object row;
  row["name"] = plugin.inspected.display_name();
  row["version"] = plugin.inspected.display_version();
  row["state"] = std::string(state_name(plugin.state));
  row["file"] = plugin.inspected.path;
  row["code"] = std::string(plugin.code());
  row["findings"] = findings_to_json(plugin.inspected.findings);
  return row;
}

bool is_problem(const Finding& finding) { return finding.severity != Severity::kInfo; }

constexpr std::string_view kFail = "FAIL", kWarn = "WARN", kGood = "OK  ", kOff = "OFF ";
// Findings of a disabled plugin are shown but do not count.
std::string_view verdict_of(const PlannedPlugin& plugin) {
  const auto& findings = plugin.inspected.findings;
  if (plugin.state == PluginState::kDisabled) return kOff;
  if (has_errors(findings)) return kFail;
  return std::any_of(findings.begin(), findings.end(), is_problem) ? kWarn : kGood;
}

Object inspection_to_json(const InspectedPlugin& plugin) {
  Object out;
  out["file"] = plugin.path;
  if (plugin.descriptor) {
    for (auto& part : descriptor_to_json(*plugin.descriptor)) out[part.key()] = part.value();
  }
  out["findings"] = findings_to_json(plugin.findings);
  return out;
}

}  // namespace

Findings unowned_findings(const Plan& plan) {
  Findings rest = plan.general;
  rest.insert(rest.end(), plan.fatal.begin(), plan.fatal.end());
  return rest;
}

std::string findings_as_text(const Findings& findings) {
  TextTable table;
  add_findings(findings, table);
  return table.str();
}

Object finding_to_json(const Finding& finding) {
  Object out;
  out["code"] = std::string(finding.code);
  out["severity"] = std::string(severity_name(finding.severity));
  out["field"] = finding.field;
  out["wanted"] = finding.wanted;
  out["found"] = finding.found;
  out["message"] = finding.message;
  out["fix"] = finding.fix;
  return out;
}

std::string list_as_text(const Plan& plan) {
  TextTable table;
  table.row({"NAME", "VERSION", "STATE", "CODE", "FILE"});
  for (const auto& plugin : plan.plugins) {
    const auto code = plugin.code();
    table.row({plugin.inspected.display_name(), version_of(plugin.inspected), std::string(state_name(plugin.state)),
               code.empty() ? "-" : std::string(code), plugin.inspected.path});
  }
  return table.str();
}

std::string list_as_json(const Plan& plan) {
  Array plugins;
  for (const auto& plugin : plan.plugins) plugins.emplace_back(plugin_to_json(plugin));
  return document(Object{{"plugins", std::move(plugins)}});
}

std::string inspection_as_text(const InspectedPlugin& plugin) {
  std::string text = "file: " + plugin.path + "\n";
  if (plugin.descriptor) {
    auto json = descriptor_to_json(*plugin.descriptor);
    for (const auto& part : json) {
      text += std::string(part.key()) + ":\n";
      TextTable table;
      for (const auto& member : part.value().as_object()) {
        const auto* value = member.value().if_string();
        table.row({std::string(member.key()), value ? std::string(*value) : to_json(member.value())});
      }
      text += table.str("  ");
    }
  }
  TextTable findings;
  add_findings(plugin.findings, findings);
  if (!plugin.findings.empty()) text += "findings:\n" + findings.str("  ");
  return text;
}

std::string inspections_as_json(const std::vector<InspectedPlugin>& plugins) {
  Array list;
  for (const auto& plugin : plugins) list.emplace_back(inspection_to_json(plugin));
  return document(list);
}

std::string inspection_as_json(const InspectedPlugin& plugin) { return document(inspection_to_json(plugin)); }

CheckResult check_plan(const Plan& plan, std::size_t shown) {
  CheckResult result;
  Array plugins;
  for (std::size_t i = 0; i < std::min(shown, plan.plugins.size()); ++i) {
    const auto& plugin = plan.plugins[i];
    const auto& findings = plugin.inspected.findings;
    const auto verdict = verdict_of(plugin);
    result.clean = result.clean && (verdict == kGood || verdict == kOff);
    TextTable table;
    add_findings(findings, table);
    result.text += std::string(verdict) + " " + plugin.inspected.display_name() + " " + version_of(plugin.inspected) + "  " +
                   std::string(state_name(plugin.state)) + "  " + plugin.inspected.path + "\n" + table.str("  ");
    plugins.emplace_back(plugin_to_json(plugin));
  }
  const auto rest = unowned_findings(plan);
  result.clean = result.clean && std::none_of(rest.begin(), rest.end(), is_problem);
  result.text += findings_as_text(rest);
  result.json = document(Object{{"clean", result.clean}, {"plugins", std::move(plugins)}, {"general", findings_to_json(rest)}});
  return result;
}

std::string graph_as_text(const Plan& plan) {
  std::string text = "chain, front to back:\n";
  for (const auto i : plan.chain) text += "  " + plan.plugins[i].name() + " " + version_of(plan.plugins[i].inspected) + "\n";
  text += "  not found\nstart order:\n";
  for (const auto i : plan.start_order) text += "  " + plan.plugins[i].name() + "\n";
  if (!plan.edges.empty()) text += "declared:\n";
  for (const auto& edge : plan.edges) {
    text += "  " + plan.plugins[edge.from].name() + " " + edge_name(edge.kind) + " " + plan.plugins[edge.to].name();
    text += (edge.range.empty() ? "" : " " + edge.range) + "\n";
  }
  std::string out;
  for (const auto& plugin : plan.plugins) {
    if (plugin.runs()) continue;
    out += "  " + plugin.inspected.display_name() + ": " + std::string(state_name(plugin.state));
    out += (plugin.code().empty() ? "" : " " + std::string(plugin.code())) + "\n";
  }
  return text + (out.empty() ? "" : "left out:\n" + out);
}

std::string graph_as_json(const Plan& plan) {
  const auto names = [&plan](const std::vector<std::size_t>& order) {
    Array list;
    for (const auto i : order) list.emplace_back(plan.plugins[i].name());
    return list;
  };
  auto chain = names(plan.chain);
  chain.emplace_back("not found");
  Array edges, left_out;
  for (const auto& edge : plan.edges) {
    edges.emplace_back(Object{{"from", plan.plugins[edge.from].name()},
                              {"kind", edge_name(edge.kind)},
                              {"to", plan.plugins[edge.to].name()},
                              {"range", edge.range}});
  }
  for (const auto& plugin : plan.plugins) {
    if (!plugin.runs()) left_out.emplace_back(plugin_to_json(plugin));
  }
  return document(Object{
      {"chain", std::move(chain)}, {"startOrder", names(plan.start_order)}, {"edges", std::move(edges)}, {"leftOut", std::move(left_out)}});
}

}  // namespace backplane
