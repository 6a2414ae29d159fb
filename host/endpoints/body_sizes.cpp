#include "endpoints/body_sizes.hpp"

#include <algorithm>
#include <string_view>

namespace backplane::endpoints {
namespace {

constexpr std::array<std::string_view, 5> kBodyVerbs{"create", "update", "patch", "delete", "delete_collection"};
constexpr std::array<std::string_view, 5> kModes{"", "Ignore", "Strict", "Warn", "invalid"};

std::vector<double> body_bounds() {
  constexpr double kFirst = 50'000, kStep = 100'000;
  std::vector<double> out;
  for (int i = 0; i < 31; ++i) out.push_back(kFirst + i * kStep);
  return out;
}

Metric& body_metric() {
  static Metric& metric = Metric::histogram("apiserver_request_body_size_bytes",
                                            "[ALPHA] Apiserver request body size in bytes broken out by resource and verb.",
                                            {"group", "resource", "verb"}, body_bounds());
  return metric;
}

Metric& validation_metric() {
  static Metric& metric = Metric::histogram(
      "field_validation_request_duration_seconds", "[ALPHA] Response latency distribution in seconds for each field validation value",
      {"field_validation"}, {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60});
  return metric;
}

// Like upstream's cleanFieldValidation: returns the index of the only valid mode, or of "invalid".
std::size_t mode_of(const Query& query) {
  constexpr std::size_t kInvalid = kModes.size() - 1;
  const auto is_mode = [](const auto& pair) { return pair.first == "fieldValidation"; };
  const auto found = std::find_if(query.begin(), query.end(), is_mode);
  if (found == query.end()) return 0;
  const auto* const mode = std::find(kModes.begin(), kModes.end(), found->second);
  return std::any_of(found + 1, query.end(), is_mode) || mode == kModes.end() ? kInvalid : static_cast<std::size_t>(mode - kModes.begin());
}

}  // namespace

void BodySizes::count(const GroupVersionResource& resource, BodyVerb verb, std::size_t bytes) {
  const auto row = static_cast<std::size_t>(verb);
  MetricCell* cell = cells_[row].load(std::memory_order_acquire);
  if (cell == nullptr) {
    cell = MetricCell::of(body_metric(), {resource.group, resource.resource, kBodyVerbs[row]});
    cells_[row].store(cell, std::memory_order_release);
  }
  if (cell != nullptr) cell->observe(static_cast<double>(bytes));
}

void ValidationModes::show(const Query& query) {
  const std::size_t mode = mode_of(query);
  const unsigned bit = 1U << mode;
  if ((shown_.load(std::memory_order_relaxed) & bit) != 0) return;
  MetricCell::of(validation_metric(), {kModes[mode]});
  shown_.fetch_or(bit, std::memory_order_relaxed);
}

}  // namespace backplane::endpoints
