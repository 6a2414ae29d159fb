// Sends recorded spans to a collector in batches, as OpenTelemetry's batch processor does: as soon as a batch is full, and every five
// seconds. If the queue is full, spans are dropped and counted.
//
// Thread-safety: add(), stop() and dropped() from any thread; they do not wait. run() on one executor.
// Lifetime:      the exporter must live until run() has ended, which stop() requests.
// Errors:        if the collector cannot be reached, the call is repeated for half a minute; then the batch is dropped, and the loss is
// logged. Source:        go.opentelemetry.io/otel/sdk/trace (batch processor), exporters/otlp/otlptrace/otlptracegrpc.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "backplane/net/grpc.hpp"
#include "tracing/span_data.hpp"

namespace backplane::tracing {

struct BatchLimits {
  std::size_t queue = 2048;
  std::size_t batch = 512;
  std::chrono::milliseconds period{5'000};
  std::chrono::milliseconds export_limit{30'000};  // the time limit of a batch with all attempts
  std::chrono::milliseconds call_limit{10'000};    // the time limit of one attempt
  std::chrono::milliseconds first_pause{5'000};    // the pause after the first attempt; each further pause is 1.5 times as long
};

class BatchExporter {
 public:
  // Sends an encoded batch, and returns the status of the call.
  using Send = std::function<Task<grpc::CallStatus>(std::string request, std::chrono::steady_clock::time_point deadline)>;

  BatchExporter(Attributes resource, Send send, BatchLimits limits = {})
      : resource_(std::move(resource)), send_(std::move(send)), limits_(limits) {}

  void add(std::vector<SpanData> spans);
  // Sends batches until stop(). Then sends the queued spans, with one attempt for each batch.
  Task<void> run();
  void stop();

  std::uint64_t dropped() const;

 private:
  std::vector<SpanData> take();
  Task<void> wait_for_batch();
  Task<void> send(std::vector<SpanData> spans);
  bool stopping() const;
  void report_dropped();

  const Attributes resource_;
  const Send send_;
  const BatchLimits limits_;
  mutable std::mutex mutex_;
  std::deque<SpanData> queue_;
  std::uint64_t dropped_ = 0, reported_ = 0;
  std::optional<Promise<bool>> waiting_;  // set while run() waits for a batch
  bool stopping_ = false;
};

}  // namespace backplane::tracing
