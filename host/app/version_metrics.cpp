#include "app/version_metrics.hpp"

namespace backplane {
namespace {

prometheus::MetricFamily constant_metric(const char* name, const char* help, std::vector<prometheus::ClientMetric::Label> labels) {
  prometheus::MetricFamily family{name, help, prometheus::MetricType::Gauge, {}};
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = 1;
  return family;
}

std::string field_of(const std::vector<std::pair<std::string_view, std::string>>& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

prometheus::MetricFamily build_info_metric(const ReportedVersion& version) {
  static constexpr std::pair<std::string_view, const char*> kLabels[] = {
      {"buildDate", "build_date"},   {"compiler", "compiler"},    {"gitCommit", "git_commit"}, {"gitTreeState", "git_tree_state"},
      {"gitVersion", "git_version"}, {"goVersion", "go_version"}, {"major", "major"},          {"minor", "minor"},
      {"platform", "platform"}};
  std::vector<prometheus::ClientMetric::Label> labels;
  const auto fields = version.fields();
  for (const auto& [field, label] : kLabels) labels.push_back({label, field_of(fields, field)});
  return constant_metric(
      "kubernetes_build_info",
      "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, "
      "and compiler from which Kubernetes was built, and platform on which it is running.",
      std::move(labels));
}

prometheus::MetricFamily version_info_metric(const EffectiveVersion& version) {
  return constant_metric("version_info",
                         "Provides the compatibility version info of the component. The component label is the name of the component, "
                         "usually kube, but is relevant for aggregated-apiservers.",
                         {{"binary", kApiRelease.to_string()},
                          {"component", "kube"},
                          {"emulation", version.emulation.to_string()},
                          {"min_compat", version.min_compatibility.to_string()}});
}

}  // namespace backplane
