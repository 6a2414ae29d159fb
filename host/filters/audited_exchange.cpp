#include "filters/audited_exchange.hpp"

#include "filters/go_duration.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

// Requests that take longer than this get their latencies as annotations (upstream: writeLatencyToAnnotation).
constexpr std::chrono::milliseconds kSlow{500};

struct LatencyRow {
  std::string_view annotation;
  std::chrono::nanoseconds RequestLatencies::*time;
};
constexpr LatencyRow kLatencies[] = {
    {"apiserver.latency.k8s.io/transform-response-object", &RequestLatencies::transformation},
    {"apiserver.latency.k8s.io/etcd", &RequestLatencies::storage},
    {"apiserver.latency.k8s.io/serialize-response-object", &RequestLatencies::serialization},
    {"apiserver.latency.k8s.io/response-write", &RequestLatencies::response_write},
    {"apiserver.latency.k8s.io/mutating-webhook", &RequestLatencies::mutating_webhooks},
    {"apiserver.latency.k8s.io/validating-webhook", &RequestLatencies::validating_webhooks},
    {"apiserver.latency.k8s.io/apf-queue-wait", &RequestLatencies::queue_wait},
    {"apiserver.latency.k8s.io/authentication", &RequestLatencies::authentication},
    {"apiserver.latency.k8s.io/authorization", &RequestLatencies::authorization},
    {"apiserver.latency.k8s.io/impersonation", &RequestLatencies::impersonation},
};

}  // namespace

Task<void> AuditedExchange::respond(int code, std::string_view content_type, std::vector<SharedBytes> body) {
  co_await origin_;
  if (!begin(code, true)) (void)co_await audited_.store();
  const auto began = Clock::now();
  auto responding = inner().respond(code, content_type, std::move(body));
  co_await std::move(responding);
  context_.latencies.response_write += Clock::now() - began;
}

Task<Status> AuditedExchange::start(int code, std::string_view content_type) {
  co_await origin_;
  if (!begin(code, false)) (void)co_await audited_.store();
  Status status = co_await inner().start(code, content_type);
  co_return status;
}

Task<Status> AuditedExchange::write(std::vector<SharedBytes> chunks) {
  // The writes of a watch are not measured, because there are many.
  if (!timed_) return inner().write(std::move(chunks));
  return write_timed(std::move(chunks));
}

Task<Status> AuditedExchange::write_timed(std::vector<SharedBytes> chunks) {
  co_await origin_;
  const auto began = Clock::now();
  auto writing = inner().write(std::move(chunks));
  Status status = co_await std::move(writing);
  context_.latencies.response_write += Clock::now() - began;
  co_return status;
}

Task<Status> AuditedExchange::switch_protocols(std::string_view protocol) {
  co_await origin_;
  if (!begin(101, false)) (void)co_await audited_.store();
  Status status = co_await inner().switch_protocols(protocol);
  co_return status;
}

bool AuditedExchange::begin(int code, bool whole) {
  if (std::exchange(begun_, true)) return true;
  if (starts_) return audited_.reach(context_, AuditStage::kResponseStarted, code);
  return !whole || !audited_.precedes_response() || complete_now(code);
}

bool AuditedExchange::complete(int code) {
  if (completed_) return true;
  const bool taken = begun_ || !starts_ || begin(code, false);
  return complete_now(code) && taken;
}

bool AuditedExchange::complete_now(int code) {
  completed_ = true;
  if (audited_.panic.empty()) {
    annotate_latencies();
    return audited_.reach(context_, AuditStage::kResponseComplete, code);
  }
  audited_.response_status = Status(500, Reason::kInternalError, "APIServer panic'd: " + audited_.panic);
  audited_.success_details.reset();
  return audited_.reach(context_, AuditStage::kPanic, 500);
}

void AuditedExchange::annotate_latencies() {
  const auto total = Clock::now() - context_.received;
  if (!timed_ || total <= kSlow) return;
  bool any = false;
  for (const auto& [annotation, time] : kLatencies) {
    const auto spent = context_.latencies.*time;
    if (spent == std::chrono::nanoseconds::zero()) continue;
    context_.annotate(annotation, format_go_duration(spent));
    any = true;
  }
  if (any) context_.annotate("apiserver.latency.k8s.io/total", format_go_duration(total));
}

}  // namespace backplane
