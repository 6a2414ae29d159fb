// The metric apiserver_request_total and the related histograms, with upstream's labels.
//
// Each route finds its series once. After that, a request costs a few atomic additions, and no lock or text.
// Thread-safety: any thread.
// Lifetime:      a RequestSeries exists until the process exits.
// Errors:        label values beyond Metric::kMostSeries are not counted.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/metric_cell.hpp"
#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"

namespace backplane {

// The labels that all these metrics have.
struct RequestLabels {
  std::string_view verb, dry_run, group, version, resource, subresource, scope, component;
};

// Like upstream's CleanScope: returns "resource", "namespace", "cluster" or "".
std::string_view request_scope(const RequestInfo& info) noexcept;
// Like upstream's cleanVerb: returns the HTTP method, or LIST, WATCH, APPLY or CONNECT. The result for an unknown method is "other".
std::string_view request_verb(const RequestInfo& info, const Exchange& exchange) noexcept;
// Like upstream's cleanDryRun: returns "" if there is no ?dryRun, otherwise "All" or "invalid".
std::string_view request_dry_run(const Query& query);

// These functions count requests that got no complete response from a handler. Dropped: a queue or a limit refused the request with 429.
// Terminated: the server ended the request with `code`. Aborted: the response was aborted after a part of it had been sent.
void count_dropped(const RequestInfo& info, const Exchange& exchange);
void count_terminated(const RequestInfo& info, const Exchange& exchange, int code);
void count_aborted(const RequestInfo& info, const Exchange& exchange);

class RequestSeries {
 public:
  // `sized`: the sizes of responses are counted, as for read requests.
  static RequestSeries& of(const RequestLabels& labels, bool sized);

  struct Ended {
    int code = 0;
    std::chrono::nanoseconds took{};
    std::chrono::nanoseconds waited{};  // the time in queues and for webhooks, which the SLI histogram excludes
    std::uint64_t bytes = 0;
  };
  void count(const Ended& request) noexcept;
  // Count the long-running requests of the series that are open.
  void opened() noexcept;
  void closed() noexcept;
  // Counts a request that the server itself has made.
  void count_own() noexcept;

  RequestSeries(const RequestLabels& labels, bool sized);
  RequestSeries(const RequestSeries&) = delete;
  RequestSeries& operator=(const RequestSeries&) = delete;

 private:
  MetricCell* total_of(int code) noexcept;
  MetricCell* made_total(int code) noexcept;
  RequestLabels labels() const noexcept;

  // The metric cells of these codes are looked up once, those of other codes for each request.
  static constexpr std::array<int, 12> kCodes{200, 201, 202, 400, 403, 404, 409, 410, 422, 429, 500, 504};
  const std::string verb_, dry_run_, group_, version_, resource_, subresource_, scope_, component_;
  MetricCell* const durations_;
  MetricCell* const sli_;    // null: SLI durations are not counted
  MetricCell* const sizes_;  // null: sizes are not counted
  std::array<std::atomic<MetricCell*>, kCodes.size()> totals_{};
};

// The series of a resource's routes. Each series is looked up at its first request.
class RouteSeries {
 public:
  RouteSeries(std::string_view group, std::string_view version, std::string_view resource, std::string_view subresource)
      : group_(group), version_(version), resource_(resource), subresource_(subresource) {}

  // `scope`: the scope of the route.
  RequestSeries& find(const RequestInfo& info, const Exchange& exchange, std::string_view scope, bool sized);

 private:
  static constexpr std::array<std::string_view, 10> kVerbs{"GET",   "LIST",   "WATCH",   "POST",  "PUT",
                                                           "PATCH", "DELETE", "CONNECT", "APPLY", "other"};
  static constexpr std::array<std::string_view, 3> kScopes{"resource", "namespace", "cluster"};
  const std::string_view group_, version_, resource_, subresource_;
  // Indexed by verb, by scope, and by whether response sizes are counted. They are not counted for watches on /watch/ paths.
  std::array<std::array<std::array<std::atomic<RequestSeries*>, 2>, kScopes.size()>, kVerbs.size()> found_{};
};

// Called on a thread of a new server. The series of this server begin at 0, even if a former server had the same metric slot.
void begin_request_series() noexcept;
// Sets the counts to 0, for DELETE /metrics.
void reset_request_series();

}  // namespace backplane
