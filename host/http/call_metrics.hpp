// rest_client_…: the calls that this server makes to other servers, and to itself.
//
// Thread-safety: one CallMetrics belongs to one call; a CallSeries may be used on any thread.
// Lifetime:      method, host and series outlive the CallMetrics.
// Errors:        none. The first 100 hosts have their own series; further ones share the host "other", because every node may be one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "backplane/core/metric_cell.hpp"

namespace backplane {

// The host of calls to this server.
inline constexpr std::string_view kLoopbackHost = "localhost";

// The series of a client's calls to its host, each of which is looked up once. A member of the client.
class CallSeries {
 public:
  explicit CallSeries(std::string_view host) : host_(host) {}
  std::string_view host() const noexcept { return host_; }

 private:
  friend class CallMetrics;
  // Null: not looked up yet.
  struct OfMethod {
    std::atomic<MetricCell*> sizes{nullptr}, durations{nullptr}, ok{nullptr};
  };
  // Null for a method that clients seldom use.
  OfMethod* of(std::string_view method) noexcept;

  const std::string host_;
  OfMethod get_, post_, put_, patch_, delete_;
};

class CallMetrics {
 public:
  // Begins the call.
  CallMetrics(std::string_view method, std::string_view host);
  CallMetrics(std::string_view method, CallSeries& series);
  void sent(std::size_t bytes) const;
  // The response head has arrived, or never will.
  void answered(int code) const;
  void failed() const;

 private:
  void end(std::string_view code) const;
  void observe_duration() const;

  const std::string_view method_;
  std::string host_;                        // as it is counted; unused with series_
  CallSeries::OfMethod* series_ = nullptr;  // null: each count is a look-up
  std::string_view client_host_;            // of the series, as the client names it
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace backplane
