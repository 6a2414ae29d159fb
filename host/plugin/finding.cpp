#include "plugin/finding.hpp"

#include <algorithm>

namespace backplane {

std::string_view severity_name(Severity severity) noexcept {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

bool has_errors(const Findings& findings) noexcept {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::kError; });
}

std::string to_line(const Finding& finding) {
  std::string line(finding.code);
  if (!finding.field.empty()) line += " " + finding.field;
  line += ": " + finding.message;
  if (!finding.wanted.empty()) line += ", wanted " + finding.wanted;
  if (!finding.found.empty()) line += ", found " + finding.found;
  if (!finding.fix.empty()) line += " (" + finding.fix + ")";
  return line;
}

}  // namespace backplane
