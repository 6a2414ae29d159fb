// The rest_client_… metrics. They count the calls that this server makes to other servers and to itself.
//
// Thread-safety: one CallMetrics belongs to one call; a CallSeries may be used on any thread.
// Lifetime:      method, host and series outlive the CallMetrics.
// Errors:        none. The first 100 hosts have their own series. Further hosts share the label "other", because every node may be a host.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "backplane/core/metric_cell.hpp"

namespace backplane {

// The "host" label of calls to this server.
inline constexpr std::string_view kLoopbackHost = "localhost";

// Stores the metric cells of a client's calls to its host, so that each cell is looked up only once. The client has a CallSeries as member.
class CallSeries {
 public:
  explicit CallSeries(std::string_view host) : host_(host) {}
  std::string_view host() const noexcept { return host_; }

 private:
  friend class CallMetrics;
  // Null: the cell has not been looked up yet.
  struct OfMethod {
    std::atomic<MetricCell*> sizes{nullptr}, durations{nullptr}, ok{nullptr};
  };
  // Returns null for a method that clients seldom use.
  OfMethod* of(std::string_view method) noexcept;

  const std::string host_;
  OfMethod get_, post_, put_, patch_, delete_;
};

class CallMetrics {
 public:
  // The constructors start the measurement of the call's duration.
  CallMetrics(std::string_view method, std::string_view host);
  CallMetrics(std::string_view method, CallSeries& series);
  void sent(std::size_t bytes) const;
  // answered(): the response head has arrived. failed(): it will never arrive.
  void answered(int code) const;
  void failed() const;

 private:
  void end(std::string_view code) const;
  void observe_duration() const;

  const std::string_view method_;
  std::string host_;                        // the "host" label; unused if series_ is set
  CallSeries::OfMethod* series_ = nullptr;  // null: each observation looks up its cell
  std::string_view client_host_;            // the host of the series, before the limit of 100 hosts is applied
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace backplane
