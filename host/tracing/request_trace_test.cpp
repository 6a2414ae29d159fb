#include "tracing/request_trace.hpp"

#include <gtest/gtest.h>

#include "tracing/trace_testing.hpp"

namespace backplane::tracing {
namespace {

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class RequestMarksTest : public testing::Test {
 protected:
  RequestMarksTest() { context.trace = &marks; }
  void record() {
    SpanData server;
    server.self = {new_trace_id(), new_span_key(), true, "a=1"};
    server.name = "GET";
    server.begin = 1;
    marks.record(server);
  }
  std::string header(const Headers& headers, std::string_view name) {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }

  HeadersOnly exchange;
  RequestContext context;
  RequestMarks marks{exchange};
};

TEST_F(RequestMarksTest, SpansNest) {
  record();
  {
    TraceSpan outer(&context, "outer");
    { TraceSpan inner(&context, "inner", SpanKind::kClient); }
    TraceSpan after(&context, "after");
  }
  const auto spans = marks.take_spans();
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[1].parent, spans[0].self.span);
  EXPECT_EQ(spans[2].parent, spans[1].self.span);
  EXPECT_EQ(spans[3].parent, spans[1].self.span) << "the span before it has ended";
  EXPECT_EQ(spans[2].kind, SpanKind::kClient);
  for (const SpanData& span : spans) {
    EXPECT_EQ(span.self.trace, spans[0].self.trace);
    EXPECT_EQ(span.self.state, "a=1");
    EXPECT_GE(span.end, span.begin);
  }
}

TEST_F(RequestMarksTest, ConcurrentSpansAreNotNested) {
  record();
  TraceSpan first(&context, "first", SpanKind::kInternal, TraceSpan::Use::kConcurrent);
  TraceSpan second(&context, "second", SpanKind::kInternal, TraceSpan::Use::kConcurrent);
  TraceSpan call(first, "call", SpanKind::kClient);
  const auto spans = marks.take_spans();
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[2].parent, spans[0].self.span);
  EXPECT_EQ(spans[3].parent, spans[1].self.span);
}

TEST_F(RequestMarksTest, StepsAreEventsOfTheCurrentSpan) {
  record();
  TraceSpan span(&context, "span");
  span.set("n", std::int64_t{3});
  trace_step(context, "step", "len", std::int64_t{7});
  span.fail("why");
  const auto spans = marks.take_spans();
  ASSERT_EQ(spans[1].events.size(), 1u);
  EXPECT_EQ(spans[1].events[0].name, "step");
  EXPECT_EQ(std::get<std::int64_t>(spans[1].events[0].attributes.at(0).second), 7);
  EXPECT_EQ(spans[1].attributes.at(0).first, "n");
  EXPECT_TRUE(spans[1].failed);
  EXPECT_EQ(spans[1].description, "why");
}

TEST_F(RequestMarksTest, EventsHaveALimit) {
  record();
  for (std::size_t i = 0; i < kMostEvents + 5; ++i) trace_step(context, "step", "i", std::int64_t{1});
  const auto spans = marks.take_spans();
  EXPECT_EQ(spans[0].events.size(), kMostEvents);
  EXPECT_EQ(spans[0].dropped_events, 5u);
}

TEST_F(RequestMarksTest, TheHeadersNameTheSpan) {
  record();
  exchange.request_headers = {{"baggage", "k=v"}, {"traceparent", std::string(kParent)}};
  TraceSpan span(&context, "call", SpanKind::kClient);
  Headers headers;
  span.propagate(headers);
  const auto spans = marks.take_spans();
  EXPECT_EQ(header(headers, "Traceparent"), to_traceparent(spans[1].self));
  EXPECT_EQ(header(headers, "Tracestate"), "a=1");
  EXPECT_EQ(header(headers, "Baggage"), "k=v");
}

TEST_F(RequestMarksTest, WithoutTracingTheClientsHeadersArePassedOn) {
  exchange.request_headers = {{"traceparent", std::string(kParent)}, {"tracestate", "b=2"}};
  Headers headers;
  propagate_trace(&context, headers);
  EXPECT_EQ(header(headers, "Traceparent"), kParent);
  EXPECT_EQ(header(headers, "Tracestate"), "b=2");
}

TEST_F(RequestMarksTest, ATraceThatIsNotRecordedIsPassedOnToo) {
  exchange.request_headers = {{"traceparent", std::string(kParent)}};
  marks.join({new_trace_id(), new_span_key(), false, ""});
  TraceSpan span(&context, "call", SpanKind::kClient);
  Headers headers;
  span.propagate(headers);
  EXPECT_TRUE(header(headers, "Traceparent").ends_with("-00"));
  EXPECT_EQ(header(headers, "Traceparent").find("0af76519"), std::string::npos);
  EXPECT_TRUE(marks.take_spans().empty());
}

TEST_F(RequestMarksTest, MarksKeepTheirOrderAndTheirSpans) {
  {
    TraceSpan handler(&context, "Create");
    trace_step(context, "read");
    TraceSpan webhook(&context, "Call", SpanKind::kInternal, TraceSpan::Use::kConcurrent);
    webhook.set("webhook", std::string_view("a"));
    webhook.set("n", std::int64_t{1});
    TraceSpan exported(&context, "exported", SpanKind::kInternal, TraceSpan::Use::kExported);
    trace_step(context, "written");
  }
  const auto items = marks.log_items();
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].name, "Create");
  EXPECT_EQ(items[1].name, "read");
  EXPECT_EQ(items[1].parent, items[0].id);
  EXPECT_EQ(items[2].fields, "webhook:a,n:1");
  EXPECT_TRUE(items[2].span);
  EXPECT_EQ(items[3].parent, items[0].id);
}

TEST_F(RequestMarksTest, MarksPastTheLimitAreDropped) {
  for (int i = 0; i < 100; ++i) {
    TraceSpan span(&context, "span");
    trace_step(context, "step");
  }
  EXPECT_EQ(marks.current, RequestTrace::kServerSpan);
  EXPECT_LE(marks.log_items().size(), 24u);
}

}  // namespace
}  // namespace backplane::tracing
