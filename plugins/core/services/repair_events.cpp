#include "services/repair_events.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::core {
namespace {

constexpr std::size_t kMostReported = 10'000;  // after this number, events may be repeated

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

// The name that upstream's recorders use: the object and the time.
std::string event_name(const ObjectEntry& about) {
  std::array<char, 32> time{};
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::snprintf(time.data(), time.size(), "%llx", static_cast<unsigned long long>(now));
  return std::string(about.name()) + "." + time.data();
}

}  // namespace

Object event_object(const RepairEvent& event) {
  const Object about = decode(*event.about, json::storage_ptr());
  Object out;
  out["kind"] = "Event";
  out["apiVersion"] = "v1";
  Object& metadata = out["metadata"].emplace_object();
  metadata["name"] = event_name(*event.about);
  metadata["namespace"] = event.about->ns().empty() ? std::string_view("default") : event.about->ns();
  Object& involved = out["involvedObject"].emplace_object();
  involved["kind"] = event.kind.kind;
  if (!event.about->ns().empty()) involved["namespace"] = event.about->ns();
  involved["name"] = event.about->name();
  involved["uid"] = meta_text(about, "uid");
  involved["apiVersion"] = event.kind.group_version().to_string();
  involved["resourceVersion"] = std::to_string(event.about->revision);
  out["reason"] = event.reason;
  out["message"] = event.note;
  out["type"] = "Warning";
  out["eventTime"] = now_micro_rfc3339();
  out["action"] = event.action;
  out["reportingComponent"] = event.reporter;
  out["reportingInstance"] = event.reporter + "-" + host_name();
  return out;
}

Task<void> WrittenEvents::report(RepairEvent event) {
  host_.logger().warn(event.note);
  if (reported_.size() >= kMostReported) reported_.clear();
  const bool is_new = reported_.insert(object_key(*event.about) + " " + event.reason + " " + event.note).second;
  if (!is_new) co_return;
  Object object = event_object(event);
  std::string ns(meta_namespace(object));
  ApiClient client(host_.client());
  const GroupVersionResource events{"", "v1", "events"};
  auto made = co_await client.create(events, std::move(ns), std::move(object));
  if (!made.ok()) host_.logger().warn("writing an event failed: " + made.status().message());
}

}  // namespace backplane::core
