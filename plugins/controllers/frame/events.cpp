#include "frame/events.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace backplane::controllers {
namespace {

constexpr std::size_t kMostRemembered = 4096;  // after this number of events, repetitions are written again

std::string unique_name(const std::string& object) {
  std::array<char, 32> time{};
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::snprintf(time.data(), time.size(), "%llx", static_cast<unsigned long long>(now));
  return object + "." + time.data();
}

Task<void> send(ApiClient api, Logger& logger, std::string ns, Object event) {
  auto made = co_await api.create({"", "v1", "events"}, std::move(ns), std::move(event));
  if (!made.ok()) logger.debug("writing an event failed error=" + quoted(made.status().message()));
}

}  // namespace

EventObject event_object_of(const Object& object, std::string_view api_version, std::string_view kind) {
  EventObject out;
  out.api_version = api_version;
  out.kind = kind;
  out.ns = meta_namespace(object);
  out.name = meta_name(object);
  out.uid = meta_text(object, "uid");
  out.resource_version = meta_text(object, "resourceVersion");
  return out;
}

void EventRecorder::write(EventObject about, std::string_view type, std::string_view reason, std::string_view message) {
  if (written_.size() >= kMostRemembered) written_.clear();
  const bool fresh = written_.insert(about.uid + " " + std::string(reason) + " " + std::string(message)).second;
  if (!fresh) return;
  const std::string ns = about.ns.empty() ? "default" : about.ns;
  const std::string now = now_rfc3339();
  Object event;
  event["metadata"] = Object{{"name", unique_name(about.name)}, {"namespace", ns}};
  Object& involved = event["involvedObject"].emplace_object();
  involved["kind"] = about.kind;
  if (!about.ns.empty()) involved["namespace"] = about.ns;
  involved["name"] = about.name;
  involved["uid"] = about.uid;
  involved["apiVersion"] = about.api_version;
  if (!about.resource_version.empty()) involved["resourceVersion"] = about.resource_version;
  event["reason"] = reason;
  event["message"] = message;
  event["source"] = Object{{"component", component_}};
  event["firstTimestamp"] = now;
  event["lastTimestamp"] = now;
  event["count"] = 1;
  event["type"] = type;
  event["reportingComponent"] = component_;
  context_.host.spawn(context_.name + "/event", send(context_.api, context_.host.logger(), ns, std::move(event)));
}

}  // namespace backplane::controllers
