#include "webhooks/circuit_report.hpp"

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kReporter = "admission-webhooks";
constexpr std::size_t kMostEventText = 1024;  // the maximum length of an Event's message

Object circuit_event(const Hook& hook, bool opened, const std::string& why) {
  Object event;
  event["kind"] = "Event";
  event["apiVersion"] = "v1";
  Object& metadata = event["metadata"].emplace_object();
  metadata["generateName"] = hook.configuration + ".";
  metadata["namespace"] = "default";
  Object& about = event["involvedObject"].emplace_object();
  about["kind"] = hook.type == HookType::kMutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  about["apiVersion"] = "admissionregistration.k8s.io/v1";
  about["name"] = hook.configuration;
  event["reason"] = opened ? "WebhookCircuitOpened" : "WebhookCircuitClosed";
  std::string text = opened
                         ? "webhook " + hook.name + " is not called for a while after repeated failures; its failurePolicy applies: " + why
                         : "webhook " + hook.name + (why.empty() ? " answers again" : " is called again: " + why);
  if (text.size() > kMostEventText) text.resize(kMostEventText);
  event["message"] = text;
  event["source"].emplace_object()["component"] = kReporter;
  event["firstTimestamp"] = event["lastTimestamp"] = now_rfc3339();
  event["count"] = 1;
  event["type"] = opened ? "Warning" : "Normal";
  event["reportingComponent"] = kReporter;
  return event;
}

Task<void> write_circuit_event(Host& host, Object event) {
  ApiClient api(host.client());
  GroupVersionResource events("", "v1", "events");
  auto creating = api.create(std::move(events), "default", std::move(event));
  auto made = co_await std::move(creating);
  if (!made.ok()) host.logger().warn("cannot write the event of a webhook error=" + backplane::quoted(made.status().message()));
}

}  // namespace

void report_circuit(Host& host, const Hook& hook, CircuitBreaker::Change change, const std::string& why) {
  if (change == CircuitBreaker::Change::kNone) return;
  const bool opened = change == CircuitBreaker::Change::kOpened;
  set_circuit_open(hook.name, hook.type, opened);
  host.logger().warn(std::string(opened ? "circuit breaker of a webhook opened" : "circuit breaker of a webhook closed") +
                     " configuration=" + hook.configuration + " webhook=" + hook.name);
  host.spawn("webhook-circuit-event", write_circuit_event(host, circuit_event(hook, opened, why)));
}

}  // namespace backplane::admission::webhooks
