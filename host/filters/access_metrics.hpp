// Metrics of authentication, of authorization, of waits in the request gate, and of requests that ended abnormally. The label values are
// upstream's.
//
// Thread-safety: any thread; the counts are atomic.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "filters/histogram.hpp"

namespace backplane {

class AccessMetrics {
 public:
  // metrics.ExponentialBuckets(0.001, 2, 15) of upstream.
  static constexpr std::array<double, 15> kBuckets{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128,
                                                   0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384};
  // The filters whose duration is measured.
  static constexpr std::array<std::string_view, 3> kFilters{"authentication", "authorization", "priorityandfairness"};
  static constexpr std::array<double, 13> kFilterBuckets{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30};
  enum Authentication : unsigned char { kSuccess, kFailure, kFailed };
  static constexpr std::array<std::string_view, 3> kAuthentications{"success", "failure", "error"};
  enum Authorization : unsigned char { kAllowed, kDenied, kError, kNoOpinion };
  static constexpr std::array<std::string_view, 4> kAuthorizations{"allowed", "denied", "error", "no-opinion"};
  // Upstream's label values for user names. All other users are counted as "email_id", if the name has an "@", or as "other".
  static constexpr std::array<std::string_view, 7> kUsers{
      "admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default", "email_id", "other"};

  // `user`: the user name if `result` is kSuccess; otherwise empty.
  void authenticated(Authentication result, std::chrono::nanoseconds took, std::string_view user) noexcept;
  void authorized(Authorization result, std::chrono::nanoseconds took) noexcept;
  // `waited`: the time in the queue of the request gate.
  void observe_wait(std::chrono::nanoseconds waited) noexcept { filters_[2].observe(waited); }
  // The handler has ended after its client had received 504 or had disconnected. `threw`: the handler ended with an exception.
  void count_late_end(bool threw) noexcept { late_[threw ? 1 : 0].fetch_add(1, std::memory_order_relaxed); }
  void reset();

  using Seconds = Histogram<kBuckets>;
  const Seconds& authentication(std::size_t result) const noexcept { return authentications_[result]; }
  const Seconds& authorization(std::size_t result) const noexcept { return authorizations_[result]; }
  using FilterSeconds = Histogram<kFilterBuckets>;
  const FilterSeconds& filter(std::size_t filter) const noexcept { return filters_[filter]; }
  std::uint64_t requests_of(std::size_t user) const noexcept { return users_[user].load(std::memory_order_relaxed); }
  std::uint64_t late(bool threw) const noexcept { return late_[threw ? 1 : 0].load(std::memory_order_relaxed); }

 private:
  std::array<Seconds, kAuthentications.size()> authentications_;
  std::array<Seconds, kAuthorizations.size()> authorizations_;
  std::array<FilterSeconds, kFilters.size()> filters_;
  std::array<std::atomic<std::uint64_t>, kUsers.size()> users_{};
  std::array<std::atomic<std::uint64_t>, 2> late_{};
};

}  // namespace backplane
