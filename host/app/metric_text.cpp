#include "app/metric_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// The families of this server are of these types.
std::string_view type_text(MetricType type) {
  if (type == MetricType::Histogram) return "histogram";
  if (type == MetricType::Summary) return "summary";
  return type == MetricType::Counter ? "counter" : "gauge";
}

// Quotation marks are escaped in values of labels only.
void append_escaped(std::string& out, std::string_view text, bool quotes) {
  const auto special = [quotes](char c) { return c == '\\' || c == '\n' || (quotes && c == '"'); };
  if (std::none_of(text.begin(), text.end(), special)) {
    out.append(text);
    return;
  }
  for (const char c : text) {
    if (special(c)) out.push_back('\\');
    out.push_back(c == '\n' ? 'n' : c);
  }
}

void append_head(std::string& out, const MetricFamily& family) {
  out.append("# HELP ").append(family.name).push_back(' ');
  append_escaped(out, family.help, false);
  out.append("\n# TYPE ").append(family.name).append(" ").append(type_text(family.type)).push_back('\n');
}

// name="value",…
std::string labels_text(const ClientMetric& metric) {
  std::string out;
  for (const auto& label : metric.label) {
    if (!out.empty()) out.push_back(',');
    out.append(label.name).append("=\"");
    append_escaped(out, label.value, true);
    out.push_back('"');
  }
  return out;
}

// Lines of one series. What they have in common is put together once.
class SeriesLines {
 public:
  SeriesLines(std::string& out, const std::string& name, const ClientMetric& metric)
      : out_(out), name_(name), labels_(labels_text(metric)), braces_(labels_.empty() ? "" : "{" + labels_ + "}") {}

  void add(std::string_view suffix, double value) {
    out_.append(name_).append(suffix).append(braces_);
    add_value(value);
  }
  // Up to the value of one more label: `name_suffix{a="b",label="`.
  std::string begin_of(std::string_view suffix, std::string_view label) const {
    std::string out = name_;
    out.append(suffix).append("{").append(labels_).append(labels_.empty() ? "" : ",").append(label).append("=\"");
    return out;
  }
  void add_at(std::string_view begin, double at, double value) {
    out_.append(begin);
    append_go_number(out_, at);
    out_.append("\"}");
    add_value(value);
  }

 private:
  void add_value(double value) {
    out_.push_back(' ');
    append_go_number(out_, value);
    out_.push_back('\n');
  }
  std::string& out_;
  const std::string& name_;
  const std::string labels_, braces_;
};

void append_histogram(SeriesLines& lines, const ClientMetric::Histogram& histogram) {
  const std::string begin = lines.begin_of("_bucket", "le");
  bool has_last = false;
  for (const auto& bucket : histogram.bucket) {
    lines.add_at(begin, bucket.upper_bound, static_cast<double>(bucket.cumulative_count));
    has_last = std::isinf(bucket.upper_bound);
  }
  if (!has_last) lines.add_at(begin, INFINITY, static_cast<double>(histogram.sample_count));
  lines.add("_sum", histogram.sample_sum);
  lines.add("_count", static_cast<double>(histogram.sample_count));
}

void append_summary(SeriesLines& lines, const ClientMetric::Summary& summary) {
  const std::string begin = lines.begin_of("", "quantile");
  for (const auto& quantile : summary.quantile) lines.add_at(begin, quantile.quantile, quantile.value);
  lines.add("_sum", summary.sample_sum);
  lines.add("_count", static_cast<double>(summary.sample_count));
}

void append_series(std::string& out, const MetricFamily& family, const ClientMetric& metric) {
  SeriesLines lines(out, family.name, metric);
  if (family.type == MetricType::Histogram) return append_histogram(lines, metric.histogram);
  if (family.type == MetricType::Summary) return append_summary(lines, metric.summary);
  lines.add("", family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value);
}

}  // namespace

void append_go_number(std::string& out, double number) {
  constexpr double kShortest = 1e6;  // from here on an exponent is used
  char text[32];
  if (std::isnan(number)) {
    out.append("NaN");
  } else if (std::isinf(number)) {
    out.append(number > 0 ? "+Inf" : "-Inf");
  } else if (const double size = std::fabs(number); size < kShortest && number == std::trunc(number)) {
    out.append(text, std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(number)).ptr);
  } else {
    const auto form = size >= kShortest || size < 1e-4 ? std::chars_format::scientific : std::chars_format::fixed;
    out.append(text, std::to_chars(text, text + sizeof text, number, form).ptr);
  }
}

std::vector<std::string> metrics_as_text(const std::vector<MetricFamily>& families) {
  // A larger piece would have a mapping of its own, whose pages are new each time.
  constexpr std::size_t kPiece = 64 << 10, kRoom = 4 << 10;
  std::vector<std::string> pieces(1);
  pieces.back().reserve(kPiece + kRoom);
  for (const MetricFamily& family : families) {
    append_head(pieces.back(), family);
    for (const ClientMetric& metric : family.metric) {
      append_series(pieces.back(), family, metric);
      if (pieces.back().size() >= kPiece) pieces.emplace_back().reserve(kPiece + kRoom);
    }
  }
  return pieces;
}

}  // namespace backplane
