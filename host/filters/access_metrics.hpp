// What /metrics says of who asks, whether they may, and of requests that did not end as they should: upstream's names for the outcomes.
//
// Thread-safety: any thread; what every request counts is atomic, what few count is behind a lock.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/request.hpp"
#include "filters/histogram.hpp"

namespace backplane {

class AccessMetrics {
 public:
  // metrics.ExponentialBuckets(0.001, 2, 15)
  static constexpr std::array<double, 15> kBuckets{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128,
                                                   0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384};
  // The filters whose time is told, and what it is told in.
  static constexpr std::array<std::string_view, 2> kFilters{"authentication", "authorization"};
  static constexpr std::array<double, 13> kFilterBuckets{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30};
  enum Authentication : unsigned char { kSuccess, kFailure, kFailed };
  static constexpr std::array<std::string_view, 3> kAuthentications{"success", "failure", "error"};
  enum Authorization : unsigned char { kAllowed, kDenied, kError, kNoOpinion };
  static constexpr std::array<std::string_view, 4> kAuthorizations{"allowed", "denied", "error", "no-opinion"};
  // Names that upstream tells apart; everybody else is an address or somebody.
  static constexpr std::array<std::string_view, 7> kUsers{
      "admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default", "email_id", "other"};

  // `user`: of a success.
  void authenticated(Authentication result, std::chrono::nanoseconds took, std::string_view user) noexcept;
  void authorized(Authorization result, std::chrono::nanoseconds took) noexcept;
  // A short request whose answer was broken off when a part of it was out.
  void aborted(const RequestInfo& info, std::string_view method);
  // Its handler has ended after its client was answered 504, or had gone.
  void ended_late(bool threw) noexcept { late_[threw ? 1 : 0].fetch_add(1, std::memory_order_relaxed); }
  // A request of the server's own.
  void self_request(const RequestInfo& info, std::string_view method);
  void reset();

  using Seconds = Histogram<kBuckets>;
  const Seconds& authentication(std::size_t result) const noexcept { return authentications_[result]; }
  const Seconds& authorization(std::size_t result) const noexcept { return authorizations_[result]; }
  using FilterSeconds = Histogram<kFilterBuckets>;
  const FilterSeconds& filter(std::size_t filter) const noexcept { return filters_[filter]; }
  std::uint64_t requests_of(std::size_t user) const noexcept { return users_[user].load(std::memory_order_relaxed); }
  std::uint64_t late(bool threw) const noexcept { return late_[threw ? 1 : 0].load(std::memory_order_relaxed); }
  // By the values of these labels.
  using Counts = std::map<std::vector<std::string>, std::uint64_t>;
  static constexpr std::array<const char*, 6> kAbortLabels{"group", "resource", "scope", "subresource", "verb", "version"};
  Counts aborts() const;
  static constexpr std::array<const char*, 4> kSelfLabels{"group", "resource", "subresource", "verb"};
  Counts self_requests() const;

 private:
  std::array<Seconds, kAuthentications.size()> authentications_;
  std::array<Seconds, kAuthorizations.size()> authorizations_;
  std::array<FilterSeconds, kFilters.size()> filters_;
  std::array<std::atomic<std::uint64_t>, kUsers.size()> users_{};
  std::array<std::atomic<std::uint64_t>, 2> late_{};
  mutable std::mutex mutex_;  // the two below
  Counts aborts_;
  Counts self_requests_;
};

}  // namespace backplane
