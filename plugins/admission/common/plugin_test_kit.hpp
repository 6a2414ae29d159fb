// For tests: calls an admission plugin with writes that are given as JSON.
//
// Thread-safety: one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/authorization.hpp"
#include "common/services.hpp"
#include "fake_host.hpp"

namespace backplane::admission {

inline Object object_from(std::string_view json) { return json::parse(json::string_view(json.data(), json.size())).get_object(); }

// The write of a test. Empty texts: no object.
struct TestWrite {
  AdmissionOperation operation = AdmissionOperation::kCreate;
  GroupVersionResource resource;
  GroupVersionKind kind = {};
  std::string subresource = {};
  std::string ns = {};
  std::string name = {};
  UserInfo user = {};
  std::string object = {}, old = {};
};

// A host, the services of the plugins, and the results of the last write.
class PluginUnderTest {
 public:
  // Calls admit() if the plugin mutates, and then validate() if it validates, like the server.
  Status run(const AdmissionPlugin& plugin, const TestWrite& write) {
    object = write.object.empty() ? std::nullopt : std::optional(object_from(write.object));
    const std::optional<Object> old = write.old.empty() ? std::nullopt : std::optional(object_from(write.old));
    context = std::make_unique<RequestContext>();
    context->user = write.user;
    context->info.ns = write.ns;
    context->info.subresource = write.subresource;
    AdmissionAttributes attributes = admission_attributes(*context, write.operation, write.resource, write.kind);
    attributes.name = write.name;
    attributes.object = object ? &*object : nullptr;
    attributes.old_object = old ? &*old : nullptr;
    if (!plugin.handles(write.operation)) return {};
    Status status;
    if (plugin.mutates()) status = admit(plugin, attributes);
    if (status.ok() && plugin.validates()) status = validate(plugin, attributes);
    return status;
  }
  // The message of the refusal; empty if the write is allowed.
  std::string message(const AdmissionPlugin& plugin, const TestWrite& write) { return run(plugin, write).message(); }

  // Adds an object to the plugin's cache of a resource.
  void cache(const GroupVersionResource& resource, std::string_view json) {
    const Object tree = object_from(json);
    auto entry = std::make_shared<ObjectEntry>(*make_object(tree));
    entry->set_identity("", meta_namespace(tree), meta_name(tree));
    std::map<std::string, std::string> sorted;
    if (const Value* labels = find_path(tree, {"metadata", "labels"})) {
      for (const auto& label : labels->as_object()) sorted.emplace(label.key(), label.value().as_string());
    }
    entry->set_labels(Labels(sorted.begin(), sorted.end()));
    services.lister(resource).informer()->indexer().put(std::move(entry));
  }
  // The store of a resource, for live reads.
  test::FakeStore& store(const GroupVersionResource& resource, std::string kind) {
    ResourceConfig config;
    config.kind = {resource.group, resource.version, std::move(kind)};
    config.resource = resource.resource;
    auto made = std::make_shared<test::FakeStore>(std::move(config));
    host.served[resource.resource] = made;
    return *made;
  }
  std::string json() const { return to_json(*object); }

  test::FakeHost host;
  Services services{host};
  std::optional<Object> object;
  std::unique_ptr<RequestContext> context;

 private:
  Status admit(const AdmissionPlugin& plugin, AdmissionAttributes& attributes) {
    if (auto status = plugin.admit_now(attributes)) return *status;
    Status status(Reason::kInternalError, "not ended");
    host.turns.start(keep(plugin.admit(attributes), status));
    host.turns.run_until_idle(/*timers=*/true);
    return status;
  }
  Status validate(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) {
    if (auto status = plugin.validate_now(attributes)) return *status;
    Status status(Reason::kInternalError, "not ended");
    host.turns.start(keep(plugin.validate(attributes), status));
    host.turns.run_until_idle(/*timers=*/true);
    return status;
  }
  static Task<void> keep(Task<Status> asking, Status& status) { status = co_await std::move(asking); }
};

// An authorizer that grants one verb on one name. `waits`: decide_now() returns no decision.
class OneRight final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "OneRight"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    if (waits) return std::nullopt;
    return decide(request);
  }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override { co_return decide(RequestView(attributes)); }

  std::string verb, resource, granted;
  bool waits = false;
  Status error;  // of every decision

 private:
  AuthorizerResult decide(const RequestView& request) const {
    AuthorizerResult result;
    const bool grants = request.verb == verb && request.resource == resource && request.name == granted;
    result.decision = grants ? Decision::kAllow : Decision::kNoOpinion;
    result.error = error;
    return result;
  }
};

}  // namespace backplane::admission
