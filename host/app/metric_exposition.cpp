#include "app/metric_exposition.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "app/sample_text.hpp"
#include "endpoints/accept.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string_view parameter(const endpoints::AcceptClause& clause, std::string_view name) {
  const auto& all = clause.parameters;
  const auto found = std::find_if(all.begin(), all.end(), [name](const auto& each) { return each.first == name; });
  return found == all.end() ? std::string_view() : found->second;
}

// ---- io.prometheus.client.MetricFamily

void add_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
void add_key(std::string& out, unsigned field, unsigned wire_type) { add_varint(out, field << 3 | wire_type); }
void add_number(std::string& out, unsigned field, std::uint64_t value) {
  add_key(out, field, 0);
  add_varint(out, value);
}
void add_double(std::string& out, unsigned field, double value) {
  add_key(out, field, 1);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 8; ++i, bits >>= 8) out.push_back(static_cast<char>(bits & 0xff));
}
void add_bytes(std::string& out, unsigned field, std::string_view bytes) {
  add_key(out, field, 2);
  add_varint(out, bytes.size());
  out.append(bytes);
}

std::string value_message(double value) {
  std::string out;
  add_double(out, 1, value);
  return out;
}

std::string histogram_message(const ClientMetric::Histogram& histogram) {
  std::string out;
  add_number(out, 1, histogram.sample_count);
  add_double(out, 2, histogram.sample_sum);
  for (const auto& bucket : histogram.bucket) {
    std::string message;
    add_number(message, 1, bucket.cumulative_count);
    add_double(message, 2, bucket.upper_bound);
    add_bytes(out, 3, message);
  }
  return out;
}

// A summary without quantiles.
std::string summary_message(const ClientMetric::Summary& summary) {
  std::string out;
  add_number(out, 1, summary.sample_count);
  add_double(out, 2, summary.sample_sum);
  return out;
}

std::string metric_message(const ClientMetric& metric, MetricType type) {
  std::string out;
  for (const auto& label : metric.label) {
    std::string pair;
    add_bytes(pair, 1, label.name);
    add_bytes(pair, 2, label.value);
    add_bytes(out, 1, pair);
  }
  if (type == MetricType::Counter) add_bytes(out, 3, value_message(metric.counter.value));
  if (type == MetricType::Gauge) add_bytes(out, 2, value_message(metric.gauge.value));
  if (type == MetricType::Summary) add_bytes(out, 4, summary_message(metric.summary));
  if (type == MetricType::Histogram) add_bytes(out, 7, histogram_message(metric.histogram));
  return out;
}

// The number of a type in io.prometheus.client.MetricType. This server has only these four types.
std::uint64_t type_number(MetricType type) {
  constexpr std::uint64_t kCounter = 0, kGauge = 1, kSummary = 2, kHistogram = 4;
  if (type == MetricType::Summary) return kSummary;
  return type == MetricType::Counter ? kCounter : type == MetricType::Gauge ? kGauge : kHistogram;
}

std::string family_message(const MetricFamily& family) {
  std::string out;
  add_bytes(out, 1, family.name);
  add_bytes(out, 2, family.help);
  add_number(out, 3, type_number(family.type));
  for (const ClientMetric& metric : family.metric) add_bytes(out, 4, metric_message(metric, family.type));
  return out;
}

}  // namespace

Exposition choose_exposition(std::string_view accept) {
  constexpr std::array<std::string_view, 4> kEscapings = {"allow-utf-8", "underscores", "dots", "values"};
  Exposition out;
  for (const auto& clause : endpoints::parse_accept(accept)) {
    const std::string_view asked = parameter(clause, "escaping");
    if (const auto* known = std::find(kEscapings.begin(), kEscapings.end(), asked); known != kEscapings.end()) out.escaping = *known;
    const std::string_view version = parameter(clause, "version");
    if (clause.type == "text" && clause.subtype == "plain" && (version == "0.0.4" || version.empty())) return out;
    const bool proto = clause.type == "application" && clause.subtype == "vnd.google.protobuf" &&
                       parameter(clause, "proto") == "io.prometheus.client.MetricFamily";
    out.delimited = proto && parameter(clause, "encoding") == "delimited";
    if (out.delimited) return out;
  }
  return out;
}

std::string content_type_of(const Exposition& form) {
  constexpr std::string_view kText = "text/plain; version=0.0.4; charset=utf-8";
  constexpr std::string_view kDelimited = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
  return std::string(form.delimited ? kDelimited : kText) + "; escaping=" + std::string(form.escaping);
}

std::vector<std::string> exposed(const std::vector<MetricFamily>& families, const Exposition& form) {
  if (!form.delimited) return metrics_as_text(families);
  std::string out;
  for (const MetricFamily& family : families) {
    const std::string message = family_message(family);
    add_varint(out, message.size());
    out.append(message);
  }
  return {std::move(out)};
}

}  // namespace backplane
