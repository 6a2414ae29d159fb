#include "tracing/slow_request.hpp"

#include <gtest/gtest.h>

namespace backplane::tracing {
namespace {

constexpr std::int64_t kMillis = 1'000'000;
constexpr std::int64_t kBegin = 1'000'000'000'000 * kMillis;  // 2001-09-09 01:46:40

LogItem step(const char* name, std::int64_t at, RequestTrace::SpanId parent = 1) {
  return {name, "", kBegin + at * kMillis, kBegin + at * kMillis, RequestTrace::kNoSpan, parent, false};
}
LogItem span(const char* name, std::int64_t begin, std::int64_t end, RequestTrace::SpanId id, RequestTrace::SpanId parent = 1) {
  return {name, "webhook:w", kBegin + begin * kMillis, kBegin + end * kMillis, id, parent, true};
}
SlowRequest update(std::int64_t took) { return {"Update", "name:a,verb:update", kBegin, kBegin + took * kMillis, 7}; }

using Lines = std::vector<std::string>;

TEST(SlowRequest, ShowsTheStepsThatTookMoreThanTheirShare) {
  EXPECT_EQ(explain(update(1200), {step("short", 10), step("long", 700), step("last", 710)}, 1),
            (Lines{"Trace[7]: \"Update\" name:a,verb:update (09-Sep-2001 01:46:40.000) (total time: 1200ms):",
                   "Trace[7]: ---\"long\" 690ms (01:46:40.700)", "Trace[7]: [1.2s] [1.2s] END"}));
}

TEST(SlowRequest, ShowsASlowSpanWithItsSteps) {
  EXPECT_EQ(explain(update(900), {step("read", 5), span("Call", 10, 800, 3), step("answered", 700, 3), step("written", 801)}, 1),
            (Lines{"Trace[7]: \"Update\" name:a,verb:update (09-Sep-2001 01:46:40.000) (total time: 900ms):",
                   "Trace[7]: [\"Call\" webhook:w 790ms (01:46:40.010)", "Trace[7]:  ---\"answered\" 690ms (01:46:40.700)]",
                   "Trace[7]: [900ms] [900ms] END"}));
}

TEST(SlowRequest, AShortSpanMayHaveASlowOneInside) {
  const Lines lines = explain(update(900), {span("outer", 10, 0, 3), span("inner", 20, 800, 4, 3)}, 1);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "Trace[7]: [\"inner\" webhook:w 780ms (01:46:40.020)]") << "the outer one has not ended";
}

}  // namespace
}  // namespace backplane::tracing
