#include "tracing/tracer.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tracing/trace_testing.hpp"

namespace backplane::tracing {
namespace {

constexpr std::string_view kSampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr std::string_view kNotSampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

class TracerTest : public testing::Test {
 protected:
  TracerTest() {
    context.info.is_resource_request = true;
    context.info.path = "/api/v1/pods";
    context.info.api_prefix = "api";
    context.info.api_version = "v1";
    context.info.resource = "pods";
    context.audit_id = "the-id";
  }
  void as(const char* group) {
    UserInfo user;
    user.groups = {group};
    context.user = user;
  }
  // The recorded spans of a request; empty if it is not recorded.
  std::vector<SpanData> run(double ratio, std::string_view traceparent, int code = 200) {
    std::vector<SpanData> out;
    const Tracer tracer(ratio, [&out](std::vector<SpanData> spans) { out = std::move(spans); });
    exchange.request_headers = {{"host", "10.0.0.1:6443"}};
    if (!traceparent.empty()) exchange.request_headers.emplace_back("traceparent", traceparent);
    RequestMarks marks(exchange);
    tracer.begin(context, exchange, marks);
    tracer.end(marks, code);
    return out;
  }

  HeadersOnly exchange;
  RequestContext context;
};

TEST_F(TracerTest, APrivilegedClientsParentIsRespected) {
  for (const char* group : {"system:masters", "system:monitoring"}) {
    as(group);
    const auto spans = run(0, kSampled);
    ASSERT_EQ(spans.size(), 1u);
    EXPECT_EQ(to_traceparent({spans[0].self.trace, spans[0].parent, true, ""}), kSampled);
    EXPECT_TRUE(spans[0].remote_parent);
    EXPECT_FALSE(spans[0].link);
    EXPECT_TRUE(run(1, kNotSampled).empty()) << "the parent has decided";
  }
}

TEST_F(TracerTest, AnotherClientsParentIsALink) {
  as("system:authenticated");
  EXPECT_TRUE(run(0, kSampled).empty());
  const auto spans = run(1, kSampled);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].parent, SpanKey{});
  ASSERT_TRUE(spans[0].link);
  EXPECT_EQ(to_traceparent(*spans[0].link), kSampled);
  EXPECT_NE(spans[0].self.trace, spans[0].link->trace);
}

TEST_F(TracerTest, ATraceWithoutAParentIsSampledByItsShare) {
  as("system:masters");
  EXPECT_TRUE(run(0, "").empty());
  EXPECT_EQ(run(1, "").size(), 1u);
}

TEST_F(TracerTest, TheServerSpanDescribesTheRequest) {
  context.received -= std::chrono::milliseconds(50);
  const auto spans = run(1, "");
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].name, "GET /api/v1/pods");
  EXPECT_EQ(spans[0].kind, SpanKind::kServer);
  EXPECT_GE(spans[0].end - spans[0].begin, 50'000'000);
  EXPECT_FALSE(spans[0].failed);
  std::map<std::string, AttributeValue> found(spans[0].attributes.begin(), spans[0].attributes.end());
  EXPECT_EQ(found["server.address"], AttributeValue(std::string("10.0.0.1")));
  EXPECT_EQ(found["server.port"], AttributeValue(std::int64_t{6443}));
  EXPECT_EQ(found["network.peer.address"], AttributeValue(std::string("::1")));
  EXPECT_EQ(found["http.target"], AttributeValue(std::string("/api/v1/pods?limit=1")));
  EXPECT_EQ(found["audit-id"], AttributeValue(std::string("the-id")));
  EXPECT_EQ(found["http.response.status_code"], AttributeValue(std::int64_t{200}));
  EXPECT_TRUE(run(1, "", 503).at(0).failed);
}

TEST_F(TracerTest, NamesHavePlaceholders) {
  RequestInfo info = context.info;
  info.api_prefix = "apis";
  info.api_group = "apps";
  info.ns = "a";
  info.resource = "deployments";
  info.name = "web";
  info.subresource = "status";
  EXPECT_EQ(server_span_name(info, "PUT"), "PUT /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}/status");
  info.is_resource_request = false;
  EXPECT_EQ(server_span_name(info, "GET"), "GET");
}

}  // namespace
}  // namespace backplane::tracing
