#include "tracing/trace_context.hpp"

#include <gtest/gtest.h>

#include <set>

namespace backplane::tracing {
namespace {

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContext, ReadsAndWritesAParent) {
  const auto context = parse_trace_headers(kParent, "a=1,tenant@vendor=2");
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled);
  EXPECT_EQ(context->trace[0], 0x0A);
  EXPECT_EQ(context->span[7], 0x31);
  EXPECT_EQ(context->state, "a=1,tenant@vendor=2");
  EXPECT_EQ(to_traceparent(*context), kParent);
}

TEST(TraceContext, WritesOnlyTheFlagOfSampling) {
  const auto context = parse_trace_headers("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02", "");
  ASSERT_TRUE(context);
  EXPECT_TRUE(to_traceparent(*context).ends_with("-00"));
}

TEST(TraceContext, AHeaderThatCannotBeReadIsNoParent) {
  for (const std::string_view text :
       {"", "00", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-08",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", "00-0af7651916cd43dd8448eb211c80319c0b7ad6b7169203331-01"}) {
    EXPECT_FALSE(parse_trace_headers(text, "")) << text;
  }
  EXPECT_TRUE(parse_trace_headers("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-09-later", "")) << "of a later version";
}

TEST(TraceContext, AStateThatCannotBeReadIsEmpty) {
  const auto state_of = [](std::string_view text) { return parse_trace_headers(kParent, text)->state; };
  EXPECT_EQ(state_of(" a=1 ,, b=2"), "a=1,b=2");
  for (const std::string_view text : {"a", "a=", "A=1", "1a=1", "a=1,a=2", "a=b=c", "a@=1", "a@b@c=1"})
    EXPECT_EQ(state_of(text), "") << text;
  EXPECT_EQ(state_of("1a@b=1"), "1a@b=1") << "a tenant may begin with a digit";
  std::string many;
  for (int i = 0; i < 33; ++i) many += "k" + std::to_string(i) + "=1,";
  EXPECT_EQ(state_of(many), "");
}

TEST(TraceContext, IdentifiersDiffer) {
  std::set<TraceId> traces;
  std::set<SpanKey> spans;
  for (int i = 0; i < 1000; ++i) {
    traces.insert(new_trace_id());
    spans.insert(new_span_key());
  }
  EXPECT_EQ(traces.size(), 1000u);
  EXPECT_EQ(spans.size(), 1000u);
}

TraceId trace_with_low(std::uint64_t low) {
  TraceId trace{};
  for (std::size_t i = 0; i < 8; ++i) trace[15 - i] = static_cast<std::uint8_t>(low >> (8 * i));
  return trace;
}

TEST(RatioSampler, ComparesTheLastBytesOfTheTrace) {
  const RatioSampler half(0.5);
  EXPECT_TRUE(half.samples(trace_with_low(0)));
  EXPECT_TRUE(half.samples(trace_with_low(0x7FFFFFFFFFFFFFFF)));
  EXPECT_FALSE(half.samples(trace_with_low(0x8000000000000000)));
  EXPECT_TRUE(RatioSampler(1).samples(trace_with_low(~std::uint64_t{0})));
  EXPECT_FALSE(RatioSampler(0).samples(trace_with_low(0)));
}

TEST(RatioSampler, SamplesItsShare) {
  const RatioSampler tenth(0.1);
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i) sampled += tenth.samples(new_trace_id()) ? 1 : 0;
  EXPECT_NEAR(sampled, 1000, 200);
}

}  // namespace
}  // namespace backplane::tracing
