#include "tracing/batch_exporter.hpp"

#include <algorithm>

#include "backplane/core/task_set.hpp"
#include "tracing/log.hpp"
#include "tracing/otlp.hpp"

namespace backplane::tracing {
namespace {

using Clock = std::chrono::steady_clock;

// True for the codes after which OTLP's exporters repeat a call.
bool may_be_sent_again(grpc::Code code) {
  constexpr std::array kTemporary{grpc::Code::kCancelled,  grpc::Code::kDeadlineExceeded, grpc::Code::kAborted,
                                  grpc::Code::kOutOfRange, grpc::Code::kUnavailable,      grpc::Code::kDataLoss};
  return std::find(kTemporary.begin(), kTemporary.end(), code) != kTemporary.end();
}

}  // namespace

void BatchExporter::add(std::vector<SpanData> spans) {
  std::optional<Promise<bool>> ready;
  {
    const std::lock_guard lock(mutex_);
    for (SpanData& span : spans) {
      if (queue_.size() < limits_.queue) {
        queue_.push_back(std::move(span));
      } else {
        ++dropped_;
      }
    }
    if (queue_.size() >= limits_.batch) ready = std::exchange(waiting_, std::nullopt);
  }
  if (ready) ready->set(true);
}

void BatchExporter::stop() {
  std::optional<Promise<bool>> ready;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ready = std::exchange(waiting_, std::nullopt);
  }
  if (ready) ready->set(true);
}

std::uint64_t BatchExporter::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

bool BatchExporter::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

std::vector<SpanData> BatchExporter::take() {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), limits_.batch));
  std::vector<SpanData> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.begin() + count));
  queue_.erase(queue_.begin(), queue_.begin() + count);
  return batch;
}

Task<void> BatchExporter::wait_for_batch() {
  Promise<bool> ready;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= limits_.batch) co_return;
    waiting_ = ready;
  }
  auto waiting = within(limits_.period, ready, false);
  (void)co_await std::move(waiting);
}

Task<void> BatchExporter::run() {
  for (;;) {
    auto waiting = wait_for_batch();
    co_await std::move(waiting);
    const bool last = stopping();
    for (auto batch = take(); !batch.empty(); batch = take()) {
      auto sending = send(std::move(batch));
      co_await std::move(sending);
    }
    report_dropped();
    if (last) co_return;
  }
}

Task<void> BatchExporter::send(std::vector<SpanData> spans) {
  const std::string request = encode_export(resource_, spans);
  const auto end = Clock::now() + limits_.export_limit;
  auto pause = limits_.first_pause;
  for (;;) {
    auto sending = send_(request, std::min(end, Clock::now() + limits_.call_limit));
    const grpc::CallStatus status = co_await std::move(sending);
    if (status.ok()) co_return;
    if (!may_be_sent_again(status.code) || stopping() || Clock::now() + pause >= end) {
      tracing_log().warn("traces export: spans are lost count={} error={:?}", spans.size(), grpc::to_text(status));
      co_return;
    }
    auto pausing = sleep_for(pause);
    co_await std::move(pausing);
    pause += pause / 2;
  }
}

void BatchExporter::report_dropped() {
  const std::uint64_t dropped = this->dropped();
  if (dropped == reported_) return;
  tracing_log().warn("traces export: the queue was full, spans are dropped count={} total={}", dropped - reported_, dropped);
  reported_ = dropped;
}

}  // namespace backplane::tracing
