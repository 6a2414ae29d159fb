// Plans, inspections and findings as text for people and as JSON for programs. Every text ends with a line break.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <string>

#include "plugin/planner.hpp"

namespace backplane {

std::string list_as_text(const Plan& plan);
std::string list_as_json(const Plan& plan);

std::string inspection_as_text(const InspectedPlugin& plugin);
std::string inspection_as_json(const InspectedPlugin& plugin);
// One document for all of them: an array.
std::string inspections_as_json(const std::vector<InspectedPlugin>& plugins);

struct CheckResult {
  std::string text, json;
  bool clean = true;  // no error and no warning; findings of disabled plugins do not count
};
// Checks the first `shown` plugins of the plan, and the findings that concern no single plugin.
CheckResult check_plan(const Plan& plan, std::size_t shown);

// The chain front to back down to "not found", and the edges between the plugins that run.
std::string graph_as_text(const Plan& plan);
std::string graph_as_json(const Plan& plan);

// The findings that concern no single plugin, and those that make startup fail.
Findings unowned_findings(const Plan& plan);
std::string findings_as_text(const Findings& findings);

Object finding_to_json(const Finding& finding);

}  // namespace backplane
