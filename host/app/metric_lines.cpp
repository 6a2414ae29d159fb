#include "app/metric_lines.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "app/metric_text.hpp"

namespace backplane {
namespace {

constexpr std::size_t kLongestNumber = 32;

std::string_view type_text(MetricLines::Type type) {
  constexpr std::array<std::string_view, 4> kTexts = {"counter", "gauge", "histogram", "summary"};
  return kTexts[static_cast<std::size_t>(type)];
}

void append_count(std::string& out, std::uint64_t count) {
  constexpr std::uint64_t kFirstWithExponent = 1'000'000;
  if (count >= kFirstWithExponent) return append_go_number(out, static_cast<double>(count));
  char text[kLongestNumber];
  out.append(text, std::to_chars(text, text + sizeof text, count).ptr);
}

}  // namespace

MetricLines::MetricLines(std::string name, std::string_view help, Type type, const std::vector<std::string>& labels,
                         std::span<const double> bounds)
    : name_(std::move(name)) {
  append_family_head(head_, name_, help, type_text(type));
  for (const std::string& label : labels) labels_.push_back((labels_.empty() ? "" : "\",") + label + "=\"");
  for (const double bound : bounds) {
    append_go_number(bounds_.emplace_back(), bound);
    bounds_.back().append("\"} ");
    has_infinity_ = std::isinf(bound);
  }
}

// Appends `a="b",c="d"`.
void MetricLines::append_labels(std::string& out, std::string_view values) const {
  for (const std::string& label : labels_) {
    const std::size_t end = values.find('\0');
    out.append(label);
    append_label_value(out, values.substr(0, end));
    values.remove_prefix(end == std::string_view::npos ? values.size() : end + 1);
  }
  if (!labels_.empty()) out.push_back('"');
}

void MetricLines::append_value(std::string& out, std::string_view values, double value) const {
  out.append(name_);
  if (!labels_.empty()) {
    out.push_back('{');
    append_labels(out, values);
    out.push_back('}');
  }
  out.push_back(' ');
  append_go_number(out, value);
  out.push_back('\n');
}

void MetricLines::append_histogram(std::string& out, std::string_view values, double sum, std::span<const std::uint64_t> counts) const {
  constexpr std::string_view kInfinity = "+Inf\"} ";
  const std::size_t begin = out.size();
  out.append(name_).append("_bucket{");
  const std::size_t labels = out.size();
  append_labels(out, values);
  const std::size_t labels_size = out.size() - labels;
  if (labels_size != 0) out.push_back(',');
  out.append("le=\"");
  // All lines begin with the same text, which is copied from the first one.
  const std::size_t common = out.size() - begin;
  out.reserve(begin + (bounds_.size() + 3) * (common + kLongestNumber + kInfinity.size()));
  std::uint64_t below = 0;
  const auto add_line = [&](std::string_view bound, std::uint64_t count) {
    if (out.size() != begin + common) out.append(out.data() + begin, common);
    out.append(bound);
    append_count(out, count);
    out.push_back('\n');
  };
  for (std::size_t i = 0; i < bounds_.size() && i < counts.size(); ++i) add_line(bounds_[i], below += counts[i]);
  if (bounds_.size() < counts.size()) below += counts[bounds_.size()];
  if (!has_infinity_) add_line(kInfinity, below);
  append_summary(out, values, sum, below);
}

void MetricLines::append_summary(std::string& out, std::string_view values, double sum, std::uint64_t count) const {
  for (const bool is_sum : {true, false}) {
    out.append(name_).append(is_sum ? "_sum" : "_count");
    if (!labels_.empty()) {
      out.push_back('{');
      append_labels(out, values);
      out.push_back('}');
    }
    out.push_back(' ');
    is_sum ? append_go_number(out, sum) : append_count(out, count);
    out.push_back('\n');
  }
}

}  // namespace backplane
