// For tests: an admission plugin with a fake host, whose stores have the objects of the test.
//
// Thread-safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include "common/services.hpp"
#include "fake_host.hpp"

namespace backplane::admission::test {

using backplane::test::FakeHost;
using backplane::test::FakeStore;

inline Object tree_of(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).as_object(); }

// `gates`: the enabled ones.
class PluginUnderTest {
 public:
  explicit PluginUnderTest(const std::vector<std::string>& gates = {}) {
    for (const std::string& gate : gates) host.flags["feature-gates." + gate] = "true";
    services = std::make_shared<Services>(host);
  }
  PluginUnderTest(const PluginUnderTest&) = delete;
  PluginUnderTest& operator=(const PluginUnderTest&) = delete;
  ~PluginUnderTest() {
    host.stop.fire();
    host.turns.run_until_idle();
  }

  // The store of a resource, empty at first.
  FakeStore& store(GroupVersionKind kind, const std::string& resource) {
    auto& place = stores_[resource];
    if (place == nullptr) {
      ResourceConfig config;
      config.kind = std::move(kind);
      config.resource = resource;
      place = std::make_shared<FakeStore>(std::move(config));
      host.served[resource] = place;
    }
    return *place;
  }
  void put(GroupVersionKind kind, const std::string& resource, std::string_view object) {
    store(std::move(kind), resource).put(tree_of(object), WatchEvent::Type::kAdded);
    host.turns.run_until_idle();
  }

  // Makes the plugin; a factory that fails fails the test.
  void make(std::span<const PluginRow> rows, std::string_view name, std::string configuration = {}) {
    for (const PluginRow& row : rows) {
      if (row.name != name) continue;
      auto made = row.make(*services, {.configuration = std::move(configuration)});
      ASSERT_TRUE(made.ok()) << made.status().message();
      plugin = *made;
      return;
    }
    FAIL() << "no plugin " << name;
  }
  // Starts the informers and waits until their caches are filled.
  void start() {
    host.spawn("informers", Services::run(services));
    host.all_groups.fire();
    host.turns.run_until_idle();
  }

  Status admit(AdmissionAttributes& attributes) {
    if (auto answer = plugin->admit_now(attributes)) return *answer;
    Status answer;
    host.turns.start(ask_admit(*plugin, attributes, answer));
    host.turns.run_until_idle(true);
    return answer;
  }
  Status validate(const AdmissionAttributes& attributes) {
    if (auto answer = plugin->validate_now(attributes)) return *answer;
    Status answer;
    host.turns.start(ask_validate(*plugin, attributes, answer));
    host.turns.run_until_idle(true);
    return answer;
  }

  FakeHost host;
  std::shared_ptr<Services> services;
  std::shared_ptr<AdmissionPlugin> plugin;

 private:
  static Task<void> ask_admit(const AdmissionPlugin& plugin, AdmissionAttributes& attributes, Status& answer) {
    auto asking = plugin.admit(attributes);
    answer = co_await std::move(asking);
  }
  static Task<void> ask_validate(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes, Status& answer) {
    auto asking = plugin.validate(attributes);
    answer = co_await std::move(asking);
  }
  std::map<std::string, std::shared_ptr<FakeStore>> stores_;
};

// A write of an object in the namespace "default".
struct WriteUnderTest {
  WriteUnderTest(GroupVersionKind kind, std::string resource, std::string_view object_text, std::string_view old_text = {})
      : object(tree_of(object_text)), old(old_text.empty() ? Object() : tree_of(old_text)) {
    const GroupVersionResource served(kind.group, kind.version, std::move(resource));
    const auto operation = old_text.empty() ? AdmissionOperation::kCreate : AdmissionOperation::kUpdate;
    attributes = admission_attributes(context, operation, served, std::move(kind));
    attributes.ns = "default";
    attributes.name = meta_name(object);
    attributes.object = &object;
    attributes.old_object = old_text.empty() ? nullptr : &old;
  }
  WriteUnderTest(const WriteUnderTest&) = delete;
  WriteUnderTest& operator=(const WriteUnderTest&) = delete;

  RequestContext context;
  Object object;
  Object old;
  AdmissionAttributes attributes;
};

struct PodUnderTest : WriteUnderTest {
  // `spec`: of a pod named "p"; `old_spec`: before the update; empty: it is created.
  explicit PodUnderTest(std::string_view spec, std::string_view old_spec = {})
      : WriteUnderTest({"", "v1", "Pod"}, "pods", pod_text(spec), old_spec.empty() ? std::string() : pod_text(old_spec)) {}
  static std::string pod_text(std::string_view spec) {
    return R"({"metadata":{"name":"p","namespace":"default"},"spec":)" + std::string(spec) + "}";
  }
  std::string member(std::string_view path) const {
    const Value* found = find_path(object, path);
    return found != nullptr ? to_json(*found) : std::string();
  }
};

}  // namespace backplane::admission::test
