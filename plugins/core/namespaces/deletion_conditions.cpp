#include "namespaces/deletion_conditions.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/table.hpp"

namespace backplane::core {
namespace {

using namespace kit;

// A condition. If message() returns a text, the condition is True with `reason` and this text. Otherwise it is False with `good_reason` and
// `good_message`.
struct Row {
  std::string_view type, reason, good_reason, good_message;
  std::string (*message)(const DeletionReport& report);  // empty: there is no obstacle
};

std::string discovery_message(const DeletionReport& report) {
  if (report.undiscovered.empty()) return report.discovery_problem;
  return "Discovery failed for some groups, " + std::to_string(report.undiscovered.size()) + " failing: " + report.discovery_error();
}

// Always empty: the versions come from discovery, so none fails to parse.
std::string parsing_message(const DeletionReport&) { return {}; }

std::string content_message(const DeletionReport& report) {
  if (report.problems.empty()) return {};
  std::vector<std::string> sorted = report.problems;
  std::sort(sorted.begin(), sorted.end());
  return "Failed to delete all resource types, " + std::to_string(sorted.size()) + " remaining: " + joined(sorted, ", ");
}

// Returns `begin` and a list of "NAME BETWEEN COUNT UNIT" for the counts above 0; empty if there are none.
std::string counted(std::string_view begin, const std::map<std::string, std::int64_t>& counts, std::string_view between,
                    std::string_view unit) {
  std::vector<std::string> rows;
  for (const auto& [name, count] : counts) {
    if (count > 0) rows.push_back(name + std::string(between) + std::to_string(count) + std::string(unit));
  }
  std::sort(rows.begin(), rows.end());
  return rows.empty() ? std::string() : std::string(begin) + joined(rows, ", ");
}

std::string remaining_message(const DeletionReport& report) {
  return counted("Some resources are remaining: ", report.remaining, " has ", " resource instances");
}

std::string finalizers_message(const DeletionReport& report) {
  return counted("Some content in the namespace has finalizers remaining: ", report.by_finalizer, " in ", " resource instances");
}

constexpr Row kRows[] = {
    {"NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", "ResourcesDiscovered", "All resources successfully discovered",
     discovery_message},
    {"NamespaceDeletionGroupVersionParsingFailure", "GroupVersionParsingFailed", "ParsedGroupVersions",
     "All legacy kube types successfully parsed", parsing_message},
    {"NamespaceDeletionContentFailure", "ContentDeletionFailed", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization", content_message},
    {"NamespaceContentRemaining", "SomeResourcesRemain", "ContentRemoved", "All content successfully removed", remaining_message},
    {"NamespaceFinalizersRemaining", "SomeFinalizersRemain", "ContentHasNoFinalizers", "All content-preserving finalizers finished",
     finalizers_message}};

bool set_condition(Array& conditions, const Row& row, std::string message) {
  const bool bad = !message.empty();
  const std::string_view status = bad ? "True" : "False", reason = bad ? row.reason : row.good_reason;
  if (!bad) message = row.good_message;
  for (Value& each : conditions) {
    Object* condition = each.if_object();
    if (condition == nullptr || get_string(*condition, "type") != row.type) continue;
    const bool same_status = get_string(*condition, "status") == status;
    if (same_status && get_string(*condition, "reason") == reason && get_string(*condition, "message") == message) return false;
    if (!same_status) (*condition)["lastTransitionTime"] = now_rfc3339();
    (*condition)["status"] = status;
    (*condition)["reason"] = reason;
    (*condition)["message"] = message;
    return true;
  }
  conditions.push_back(
      Object{{"type", row.type}, {"status", status}, {"lastTransitionTime", now_rfc3339()}, {"reason", reason}, {"message", message}});
  return true;
}

}  // namespace

std::string DeletionReport::discovery_error() const {
  if (undiscovered.empty()) return discovery_problem;
  std::vector<std::string> rows;
  for (const auto& [version, why] : undiscovered) rows.push_back(version + ": " + why);
  std::sort(rows.begin(), rows.end());
  return "unable to retrieve the complete list of server APIs: " + joined(rows, ", ");
}

bool set_deletion_conditions(Object& ns, const DeletionReport& report) {
  Array& conditions = ensure_array(ensure_object(ns, "status"), "conditions");
  bool changed = false;
  for (const Row& row : kRows) changed = set_condition(conditions, row, row.message(report)) || changed;
  return changed;
}

}  // namespace backplane::core
