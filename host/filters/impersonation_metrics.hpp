// Impersonation metrics (upstream: apiserver_impersonation_*).
//
// Thread-safety: any thread; the counts are atomic.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

#include "filters/histogram.hpp"

namespace backplane {

class ImpersonationMetrics {
 public:
  // metrics.ExponentialBuckets(0.001, 2, 15) of upstream.
  static constexpr std::array<double, 15> kBuckets{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128,
                                                   0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384};
  // The modes in the order in which they are tried. The last label, the empty text, counts requests that no mode allows.
  static constexpr std::array<std::string_view, 6> kModes{"associated-node", "arbitrary-node", "serviceaccount", "user-info", "legacy", ""};
  static constexpr std::size_t kNoMode = kModes.size() - 1;
  using Seconds = Histogram<kBuckets>;

  void attempt(std::size_t mode, bool allowed, std::chrono::nanoseconds took) noexcept { attempts_[mode][allowed ? 1 : 0].observe(took); }
  void authorization(std::size_t mode, bool allowed, std::chrono::nanoseconds took) noexcept {
    authorizations_[mode][allowed ? 1 : 0].observe(took);
  }
  const Seconds& attempts(std::size_t mode, bool allowed) const noexcept { return attempts_[mode][allowed ? 1 : 0]; }
  const Seconds& authorizations(std::size_t mode, bool allowed) const noexcept { return authorizations_[mode][allowed ? 1 : 0]; }
  void reset() noexcept {
    for (auto* const table : {&attempts_, &authorizations_}) {
      for (auto& row : *table) {
        for (Seconds& each : row) each.reset();
      }
    }
  }

 private:
  using Table = std::array<std::array<Seconds, 2>, kModes.size()>;
  Table attempts_, authorizations_;
};

}  // namespace backplane
