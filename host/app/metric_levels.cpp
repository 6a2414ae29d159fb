#include "app/metric_levels.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace backplane {
namespace {

// Metrics that are in neither list are ALPHA, except workqueue_* (known_level()).
constexpr std::array<std::string_view, 11> kStable = {
    "apiserver_admission_controller_admission_duration_seconds",
    "apiserver_admission_step_admission_duration_seconds",
    "apiserver_current_inflight_requests",
    "apiserver_longrunning_requests",
    "apiserver_request_duration_seconds",
    "apiserver_request_total",
    "apiserver_requested_deprecated_apis",
    "apiserver_response_sizes",
    "apiserver_storage_objects",
    "apiserver_storage_size_bytes",
    "kubernetes_healthcheck",
};
constexpr std::array<std::string_view, 13> kBeta = {
    "apiserver_cel_compilation_duration_seconds",
    "apiserver_cel_evaluation_duration_seconds",
    "apiserver_flowcontrol_current_executing_requests",
    "apiserver_flowcontrol_current_executing_seats",
    "apiserver_flowcontrol_dispatched_requests_total",
    "apiserver_flowcontrol_nominal_limit_seats",
    "apiserver_storage_events_received_total",
    "apiserver_watch_list_duration_seconds",
    "disabled_metrics_total",
    "hidden_metrics_total",
    "kubernetes_build_info",
    "kubernetes_feature_enabled",
    "registered_metrics_total",
};
constexpr std::array<std::string_view, 3> kUnmarked = {"process_", "grpc_", "go_"};

template <std::size_t size>
bool has(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view known_level(std::string_view name) {
  if (has(kStable, name)) return "STABLE";
  return has(kBeta, name) || name.starts_with("workqueue_") ? "BETA" : "ALPHA";
}

bool unmarked(std::string_view name) {
  return std::any_of(kUnmarked.begin(), kUnmarked.end(), [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// "BETA" of "[BETA] text".
std::string_view level_in_help(std::string_view help) {
  if (!help.starts_with('[')) return {};
  const auto end = help.find(']');
  const std::string_view level = end == std::string_view::npos ? std::string_view() : help.substr(1, end - 1);
  return level == "ALPHA" || level == "BETA" || level == "STABLE" ? level : std::string_view();
}

// "1.30.0" of "… (Deprecated since 1.30.0) …".
std::string deprecated_since(std::string_view help) {
  constexpr std::string_view kSince = "(Deprecated since ";
  const auto at = help.find(kSince);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = help.substr(at + kSince.size());
  return std::string(rest.substr(0, rest.find(')')));
}

prometheus::MetricFamily counter(const char* name, const char* help, double value) {
  prometheus::MetricFamily family{name, help, prometheus::MetricType::Counter, {}};
  family.metric.emplace_back().counter.value = value;
  return family;
}

}  // namespace

std::string marked_help(std::string_view name, std::string_view help) {
  if (unmarked(name) || !level_in_help(help).empty()) return std::string(help);
  return "[" + std::string(known_level(name)) + "] " + std::string(help);
}

void mark_levels(std::vector<prometheus::MetricFamily>& families) {
  for (auto& family : families) family.help = marked_help(family.name, family.help);
}

LevelCounts::Level LevelCounts::level_of(std::string_view name, std::string_view help) {
  if (unmarked(name)) return std::nullopt;
  const std::string_view named = level_in_help(help);
  return std::pair(deprecated_since(help), std::string(named.empty() ? known_level(name) : named));
}

std::vector<prometheus::MetricFamily> LevelCounts::families(std::size_t disabled, std::size_t hidden) const {
  prometheus::MetricFamily registered{"registered_metrics_total",
                                      "The count of registered metrics broken by stability level and deprecation version.",
                                      prometheus::MetricType::Counter,
                                      {}};
  for (const auto& [labels, count] : counts_) {
    auto& metric = registered.metric.emplace_back();
    metric.label = {{"deprecated_version", labels.first}, {"stability_level", labels.second}};
    metric.counter.value = static_cast<double>(count);
  }
  return {std::move(registered), counter("disabled_metrics_total", "The count of disabled metrics.", static_cast<double>(disabled)),
          counter("hidden_metrics_total", "The count of hidden metrics.", static_cast<double>(hidden))};
}

void count_levels(std::vector<prometheus::MetricFamily>& families, std::size_t disabled, std::size_t hidden) {
  LevelCounts counts;
  for (const auto& family : families) counts.add(LevelCounts::level_of(family.name, family.help));
  auto added = counts.families(disabled, hidden);
  families.insert(families.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

}  // namespace backplane
