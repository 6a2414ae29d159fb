// apiserver_request_total and the related histograms, by upstream's labels.
//
// A route finds its series once; from then on a request costs a few atomic additions, without a lock or a text.
// Thread-safety: any thread.
// Lifetime:      a RequestSeries lives as long as the process.
// Errors:        label values past Metric::kMostSeries are not counted.
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

// The values of the labels that all these metrics have.
struct RequestLabels {
  std::string_view verb, dry_run, group, version, resource, subresource, scope, component;
};

// CleanScope: "resource", "namespace", "cluster" or nothing.
std::string_view request_scope(const RequestInfo& info) noexcept;
// cleanVerb: the method, or LIST, WATCH, APPLY or CONNECT; "other" for an unknown method.
std::string_view request_verb(const RequestInfo& info, const Exchange& exchange) noexcept;
// cleanDryRun of a query: empty without ?dryRun, "All", or "invalid".
std::string_view request_dry_run(const Query& query);

// Requests without a complete response of a handler: a queue or a limit refused the request (429), the server ended it, or the response was
// aborted after a part of it had been sent.
void count_dropped(const RequestInfo& info, const Exchange& exchange);
void count_terminated(const RequestInfo& info, const Exchange& exchange, int code);
void count_aborted(const RequestInfo& info, const Exchange& exchange);

class RequestSeries {
 public:
  // `sized`: the sizes of responses are counted, as for reads.
  static RequestSeries& of(const RequestLabels& labels, bool sized);

  struct Ended {
    int code = 0;
    std::chrono::nanoseconds took{};
    std::chrono::nanoseconds waited{};  // in queues and for webhooks; not in the sli histogram
    std::uint64_t bytes = 0;
  };
  void count(const Ended& request) noexcept;
  // The open long-running requests of the series.
  void opened() noexcept;
  void closed() noexcept;
  // A request that the server made itself.
  void count_own() noexcept;

  RequestSeries(const RequestLabels& labels, bool sized);
  RequestSeries(const RequestSeries&) = delete;
  RequestSeries& operator=(const RequestSeries&) = delete;

 private:
  MetricCell* total_of(int code) noexcept;
  MetricCell* made_total(int code) noexcept;
  RequestLabels labels() const noexcept;

  // Codes that are looked up once; others each time.
  static constexpr std::array<int, 12> kCodes{200, 201, 202, 400, 403, 404, 409, 410, 422, 429, 500, 504};
  const std::string verb_, dry_run_, group_, version_, resource_, subresource_, scope_, component_;
  MetricCell* const durations_;
  MetricCell* const sli_;    // null: not counted
  MetricCell* const sizes_;  // null: not counted
  std::array<std::atomic<MetricCell*>, kCodes.size()> totals_{};
};

// The series of one resource's routes, each found at its first request.
class RouteSeries {
 public:
  RouteSeries(std::string_view group, std::string_view version, std::string_view resource, std::string_view subresource)
      : group_(group), version_(version), resource_(resource), subresource_(subresource) {}

  // `scope`: of the route.
  RequestSeries& find(const RequestInfo& info, const Exchange& exchange, std::string_view scope, bool sized);

 private:
  static constexpr std::array<std::string_view, 10> kVerbs{"GET",   "LIST",   "WATCH",   "POST",  "PUT",
                                                           "PATCH", "DELETE", "CONNECT", "APPLY", "other"};
  static constexpr std::array<std::string_view, 3> kScopes{"resource", "namespace", "cluster"};
  const std::string_view group_, version_, resource_, subresource_;
  // By verb, scope, and whether response sizes are counted; they are not for watches on /watch/ paths.
  std::array<std::array<std::array<std::atomic<RequestSeries*>, 2>, kScopes.size()>, kVerbs.size()> found_{};
};

// Called when a server is created, on a thread of that server: its series begin at 0 even if a former server had the same metric slot.
void begin_request_series() noexcept;
// For DELETE /metrics.
void reset_request_series();

}  // namespace backplane
