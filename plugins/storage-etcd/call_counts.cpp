#include "call_counts.hpp"

#include <string>
#include <vector>

#include "backplane/core/metrics.hpp"

namespace backplane::etcd {
namespace {

// The metric of an event (CallCounts::Event).
Metric& metric_of(std::size_t event) {
  static const std::vector<std::string> labels = {"grpc_method", "grpc_service", "grpc_type"};
  static const std::array<Metric*, 4> metrics = {
      &Metric::counter("grpc_client_started_total", "Calls that were begun, by method.", labels),
      &Metric::counter("grpc_client_msg_sent_total", "Messages that were sent, by method.", labels),
      &Metric::counter("grpc_client_msg_received_total", "Messages that were received, by method.", labels),
      &Metric::counter("grpc_client_handled_total", "Calls that have ended, by method and code.",
                       {"grpc_code", "grpc_method", "grpc_service", "grpc_type"})};
  return *metrics[event];
}

std::string_view type_of(const Method& method) { return method.streams ? "bidi_stream" : "unary"; }

}  // namespace

void CallCounts::add_first(Event event, const Method& method) {
  const std::string_view type = type_of(method);
  MetricCell* const cell = event == kHandledOk
                               ? MetricCell::of(metric_of(event), {grpc::code_name(Code::kOk), method.name, method.service, type})
                               : MetricCell::of(metric_of(event), {method.name, method.service, type});
  if (cell == nullptr) return;
  cell->add();
  cell_of(event, method).store(cell, std::memory_order_release);
}

void CallCounts::handled(const Method& method, const CallStatus& status) {
  if (status.ok()) return add(kHandledOk, method);
  metric_of(kHandledOk).add({grpc::code_name(status.code), method.name, method.service, type_of(method)});
}

}  // namespace backplane::etcd
