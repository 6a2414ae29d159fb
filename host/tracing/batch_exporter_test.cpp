#include "tracing/batch_exporter.hpp"

#include <gtest/gtest.h>

#include "turn_executor.hpp"

namespace backplane::tracing {
namespace {

std::vector<SpanData> spans(std::size_t count) {
  std::vector<SpanData> out(count);
  for (SpanData& span : out) span.name = "span-name";
  return out;
}

std::size_t count_of(const std::string& request) {
  std::size_t count = 0;
  for (std::size_t at = request.find("span-name"); at != std::string::npos; at = request.find("span-name", at + 1)) ++count;
  return count;
}

class BatchExporterTest : public testing::Test {
 protected:
  BatchExporterTest() {
    limits.queue = 10;
    limits.batch = 4;
    limits.first_pause = std::chrono::milliseconds(1);
  }
  BatchExporter& exporter() {
    if (!exporter_) {
      exporter_.emplace(
          Attributes(), [this](std::string request, std::chrono::steady_clock::time_point) { return take(std::move(request)); }, limits);
    }
    return *exporter_;
  }
  void start() {
    spawn_detached(turns, exporter().run(), [this] { ended = true; });
    turns.run_until_idle();
  }
  Task<grpc::CallStatus> take(std::string request) {
    sent.push_back(count_of(request));
    if (problems.empty()) co_return grpc::CallStatus();
    grpc::CallStatus next = problems.front();
    problems.erase(problems.begin());
    co_return next;
  }

  test::TurnExecutor turns;
  BatchLimits limits;
  std::vector<std::size_t> sent;  // the number of spans in each call
  std::vector<grpc::CallStatus> problems;
  bool ended = false;

 private:
  std::optional<BatchExporter> exporter_;
};

TEST_F(BatchExporterTest, SendsQueuedSpansAfterThePeriod) {
  start();
  exporter().add(spans(2));
  turns.run_until_idle();
  EXPECT_TRUE(sent.empty());
  turns.fire_timers();
  EXPECT_EQ(sent, (std::vector<std::size_t>{2}));
  turns.fire_timers();
  EXPECT_EQ(sent.size(), 1u) << "nothing is not sent";
}

TEST_F(BatchExporterTest, SendsAFullBatchAtOnce) {
  start();
  exporter().add(spans(9));
  turns.run_until_idle();
  EXPECT_EQ(sent, (std::vector<std::size_t>{4, 4, 1}));
}

TEST_F(BatchExporterTest, AFullQueueDropsAndCounts) {
  exporter().add(spans(8));
  exporter().add(spans(5));
  EXPECT_EQ(exporter().dropped(), 3u);
  start();
  EXPECT_EQ(sent, (std::vector<std::size_t>{4, 4, 2}));
}

TEST_F(BatchExporterTest, StopSendsTheRemainingSpans) {
  start();
  exporter().add(spans(3));
  exporter().stop();
  turns.run_until_idle();
  EXPECT_EQ(sent, (std::vector<std::size_t>{3}));
  EXPECT_TRUE(ended);
}

TEST_F(BatchExporterTest, ABatchIsSentAgainIfTheCollectorIsUnavailable) {
  problems = {{grpc::Code::kUnavailable, "away"}};
  start();
  exporter().add(spans(4));
  turns.run_until_idle();
  EXPECT_EQ(sent.size(), 1u);
  turns.run_until_idle(/*timers=*/false);
  turns.fire_timers();
  EXPECT_EQ(sent, (std::vector<std::size_t>{4, 4}));
}

TEST_F(BatchExporterTest, ARefusedBatchIsLost) {
  problems = {{grpc::Code::kInvalidArgument, "no"}};
  start();
  exporter().add(spans(4));
  turns.run_until_idle();
  turns.fire_timers();
  EXPECT_EQ(sent, (std::vector<std::size_t>{4}));
}

}  // namespace
}  // namespace backplane::tracing
