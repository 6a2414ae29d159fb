#include "app/metric_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

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

// name="value",…
void append_labels(std::string& out, const ClientMetric& metric) {
  bool first = true;
  for (const auto& label : metric.label) {
    if (!std::exchange(first, false)) out.push_back(',');
    out.append(label.name).append("=\"");
    append_label_value(out, label.value);
    out.push_back('"');
  }
}

// Lines of one series.
class SeriesLines {
 public:
  SeriesLines(std::string& out, const std::string& name, const ClientMetric& metric) : out_(out), name_(name), metric_(metric) {}

  void add(std::string_view suffix, double value) {
    out_.append(name_).append(suffix);
    if (!metric_.label.empty()) {
      out_.push_back('{');
      append_labels(out_, metric_);
      out_.push_back('}');
    }
    add_value(value);
  }
  // Lines with one more label follow: `name_suffix{a="b",label="`.
  void begin(std::string_view suffix, std::string_view label) {
    begin_ = out_.size();
    out_.append(name_).append(suffix).push_back('{');
    append_labels(out_, metric_);
    out_.append(metric_.label.empty() ? "" : ",").append(label).append("=\"");
    common_ = out_.size() - begin_;
    begun_ = true;
  }
  void add_at(double at, double value) {
    // The lines' common text is copied from the first one.
    if (!std::exchange(begun_, false)) {
      out_.reserve(out_.size() + common_);
      out_.append(out_.data() + begin_, common_);
    }
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
  const ClientMetric& metric_;
  std::size_t begin_ = 0, common_ = 0;
  bool begun_ = false;
};

void append_histogram(SeriesLines& lines, const ClientMetric::Histogram& histogram) {
  lines.begin("_bucket", "le");
  bool has_last = false;
  for (const auto& bucket : histogram.bucket) {
    lines.add_at(bucket.upper_bound, static_cast<double>(bucket.cumulative_count));
    has_last = std::isinf(bucket.upper_bound);
  }
  if (!has_last) lines.add_at(INFINITY, static_cast<double>(histogram.sample_count));
  lines.add("_sum", histogram.sample_sum);
  lines.add("_count", static_cast<double>(histogram.sample_count));
}

void append_summary(SeriesLines& lines, const ClientMetric::Summary& summary) {
  for (std::size_t i = 0; i < summary.quantile.size(); ++i) {
    if (i == 0) lines.begin("", "quantile");
    lines.add_at(summary.quantile[i].quantile, summary.quantile[i].value);
  }
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

void append_family_head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  out.append("# HELP ").append(name).push_back(' ');
  append_escaped(out, help, false);
  out.append("\n# TYPE ").append(name).append(" ").append(type).push_back('\n');
}

void append_label_value(std::string& out, std::string_view value) { append_escaped(out, value, true); }

void append_family(std::string& out, const MetricFamily& family) {
  append_family_head(out, family.name, family.help, type_text(family.type));
  for (const ClientMetric& metric : family.metric) append_series(out, family, metric);
}

std::vector<std::string> metrics_as_text(const std::vector<MetricFamily>& families) {
  TextPieces pieces;
  for (const MetricFamily& family : families) {
    append_family_head(pieces.last(), family.name, family.help, type_text(family.type));
    for (const ClientMetric& metric : family.metric) {
      append_series(pieces.last(), family, metric);
      pieces.cut();
    }
  }
  return pieces.take();
}

}  // namespace backplane
