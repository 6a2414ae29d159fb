#include "endpoints/request_series.hpp"

#include <gtest/gtest.h>

#include "endpoints/testing/fake_exchange.hpp"

namespace backplane {
namespace {

using backplane::testing::FakeExchange;

struct Asked {
  const char* method;
  const char* target;
  Headers headers;
  RequestInfo info;
  const char* verb;
  const char* scope;
};

RequestInfo info_of(const char* verb, const char* ns, const char* name, const char* subresource = "") {
  RequestInfo info;
  info.is_resource_request = true;
  info.verb = verb;
  info.resource = "pods";
  info.ns = ns;
  info.name = name;
  info.subresource = subresource;
  return info;
}

Query query_of(std::string_view target) {
  const auto question = target.find('?');
  Status error;
  return question == std::string_view::npos ? Query() : parse_query_leniently(target.substr(question + 1), error);
}

TEST(RequestSeriesTest, VerbsAndScopesAreUpstreams) {
  const Asked rows[] = {
      {"GET", "/api/v1/namespaces/n/pods/p", {}, info_of("get", "n", "p"), "GET", "resource"},
      {"HEAD", "/api/v1/namespaces/n/pods/p", {}, info_of("get", "n", "p"), "GET", "resource"},
      {"GET", "/api/v1/namespaces/n/pods", {}, info_of("list", "n", ""), "LIST", "namespace"},
      {"GET", "/api/v1/pods", {}, info_of("list", "", ""), "LIST", "cluster"},
      {"GET", "/api/v1/pods?watch=1", {}, info_of("watch", "", ""), "WATCH", "cluster"},
      {"GET", "/api/v1/pods?watch=False", {}, info_of("list", "", ""), "LIST", "cluster"},
      {"GET", "/api/v1/namespaces/n/pods/p?watch", {}, info_of("get", "n", "p"), "WATCH", "resource"},
      {"POST", "/api/v1/namespaces/n/pods", {}, info_of("create", "n", ""), "POST", "resource"},
      {"PUT", "/api/v1/namespaces/n/pods/p", {}, info_of("update", "n", "p"), "PUT", "resource"},
      {"PATCH", "/", {{"content-type", "application/merge-patch+json"}}, info_of("patch", "n", "p"), "PATCH", "resource"},
      {"PATCH", "/", {{"content-type", "application/apply-patch+yaml"}}, info_of("patch", "n", "p"), "APPLY", "resource"},
      {"DELETE", "/api/v1/namespaces/n/pods", {}, info_of("deletecollection", "n", ""), "DELETE", "namespace"},
      {"GET", "/", {}, info_of("get", "n", "p", "log"), "CONNECT", "resource"},
      {"POST", "/", {}, info_of("create", "n", "p", "exec"), "CONNECT", "resource"},
      {"PROPFIND", "/api/v1/pods", {}, info_of("", "", ""), "other", "cluster"},
      {"GET", "/healthz", {}, RequestInfo(), "GET", ""},
  };
  for (const Asked& row : rows) {
    const FakeExchange exchange(row.method, row.target, row.headers, "");
    RequestInfo info = row.info;
    info.query = query_of(row.target);
    EXPECT_EQ(request_verb(info, exchange), row.verb) << row.method << " " << row.target;
    EXPECT_EQ(request_scope(row.info), row.scope) << row.method << " " << row.target;
  }
}

TEST(RequestSeriesTest, DryRunsAreAllOrInvalid) {
  EXPECT_EQ(request_dry_run(query_of("/x?dryRun=All")), "All");
  EXPECT_EQ(request_dry_run(query_of("/x?dryRun=All&dryRun=All")), "All");
  EXPECT_EQ(request_dry_run(query_of("/x?dryRun=some")), "invalid");
  EXPECT_EQ(request_dry_run(query_of("/x?dryRun")), "invalid");
  EXPECT_EQ(request_dry_run(query_of("/dryRun?a=b")), "");
}

Metric::Snapshot shown(std::string_view name) {
  for (auto& each : Metric::all()) {
    if (each.name == name) return each;
  }
  return {};
}

TEST(RequestSeriesTest, ARouteCountsByCodeAndByWhatTheHandlerWrote) {
  const std::string group = "series.example.com", version = "v1", resource = "things", none;
  RouteSeries routes(group, version, resource, none);
  const FakeExchange exchange("GET", "/apis/series.example.com/v1/things", {}, "");
  RequestSeries& series = routes.find(info_of("list", "", ""), exchange, "cluster", true);
  EXPECT_EQ(&series, &routes.find(info_of("list", "", ""), exchange, "cluster", true));
  EXPECT_NE(&series, &routes.find(info_of("list", "", ""), exchange, "cluster", false));
  series.count({200, std::chrono::milliseconds(300), std::chrono::milliseconds(200), 5000});
  series.count({418, std::chrono::milliseconds(300), {}, 5000});
  const std::vector<std::string> labels = {"apiserver", "series.example.com", "things", "cluster", "", "LIST", "v1"};
  const auto with = [&](std::initializer_list<std::string> first, bool dry_run) {
    std::vector<std::string> out(first);
    out.insert(out.end(), labels.begin(), labels.end());
    if (dry_run) out.insert(out.begin() + static_cast<std::ptrdiff_t>(first.size()) + 1, "");
    return out;
  };
  EXPECT_EQ(shown("apiserver_request_total").series[with({"200"}, true)].value, 1);
  EXPECT_EQ(shown("apiserver_request_total").series[with({"418"}, true)].value, 1);
  EXPECT_EQ(shown("apiserver_request_duration_seconds").series[with({}, true)].count, 2u);
  EXPECT_NEAR(shown("apiserver_request_sli_duration_seconds").series[with({}, false)].value, 0.4, 1e-9) << "without the time in a queue";
  EXPECT_EQ(shown("apiserver_response_sizes").series[with({}, false)].value, 10000);
  series.opened();
  EXPECT_EQ(shown("apiserver_longrunning_requests").series[with({}, false)].value, 1);
  series.closed();
  EXPECT_EQ(shown("apiserver_longrunning_requests").series[with({}, false)].value, 0);
  reset_request_series();
  EXPECT_EQ(shown("apiserver_request_total").series.count(with({"200"}, true)), 0u) << "nothing is left of it";
  series.count({200, std::chrono::milliseconds(1), {}, 1});
  EXPECT_EQ(shown("apiserver_request_total").series[with({"200"}, true)].value, 1);
}

// A client that requests new resources again and again must not exhaust the series of the metric.
TEST(RequestSeriesTest, LabelsOfRequestsWithoutAHandlerAreBounded) {
  constexpr int kAsked = 3000;
  constexpr std::size_t kMost = 1100;
  const FakeExchange exchange("GET", "/", {}, "");
  for (int i = 0; i < kAsked; ++i) {
    RequestInfo info = info_of("list", "", "");
    info.resource = "of-a-client-" + std::to_string(i);
    count_dropped(info, exchange);
    count_terminated(info, exchange, 429);
    RequestInfo page;
    page.path = "/of-a-client/" + std::to_string(i);
    count_terminated(page, exchange, 429);
  }
  EXPECT_LE(shown("apiserver_request_total").series.size(), kMost);
  EXPECT_LE(shown("apiserver_request_terminations_total").series.size(), kMost);
  double counted = 0;
  for (const auto& [labels, series] : shown("apiserver_request_terminations_total").series) counted += series.value;
  EXPECT_EQ(counted, 2 * kAsked) << "those without labels are counted, too";
}

}  // namespace
}  // namespace backplane
