#include "call_counts.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane::etcd {
namespace {

const std::vector<std::string>& labels() {
  static const std::vector<std::string> names = {"grpc_method", "grpc_service", "grpc_type"};
  return names;
}

std::string_view type_of(const Method& method) { return method.streams ? "bidi_stream" : "unary"; }

void add(Metric& metric, const Method& method) { metric.add({method.name, method.service, type_of(method)}); }

}  // namespace

void count_started(const Method& method) {
  static Metric& metric = Metric::counter("grpc_client_started_total", "Calls that were begun, by method.", labels());
  add(metric, method);
}

void count_sent(const Method& method) {
  static Metric& metric = Metric::counter("grpc_client_msg_sent_total", "Messages that were sent, by method.", labels());
  add(metric, method);
}

void count_received(const Method& method) {
  static Metric& metric = Metric::counter("grpc_client_msg_received_total", "Messages that were received, by method.", labels());
  add(metric, method);
}

void count_handled(const Method& method, const CallStatus& status) {
  static Metric& metric = Metric::counter("grpc_client_handled_total", "Calls that have ended, by method and code.",
                                          {"grpc_code", "grpc_method", "grpc_service", "grpc_type"});
  metric.add({grpc::code_name(status.code), method.name, method.service, type_of(method)});
}

}  // namespace backplane::etcd
