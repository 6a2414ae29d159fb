// A plugin that registers an object at every extension point whose objects can be replaced while the server runs, and that records its life
// cycle in the metric gadgets_lifecycle_total. The macro BUILD distinguishes two builds; GADGETS_FAIL is the step in which a build fails;
// with GADGETS_FIELD, the kind has a selectable field, and so another cache; with GADGETS_SLOW, provision() takes that many seconds; with
// GADGETS_PUBLISHES, the plugin may publish groups at run time.
#include <backplane/core/metrics.hpp>
#include <backplane/net/informer.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/admission.hpp>
#include <backplane/points/authentication.hpp>
#include <backplane/points/authorization.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/rest/api_group.hpp>
#include <backplane/rest/resource_config.hpp>
#include <backplane/rest/scheme.hpp>
#include <backplane/rest/standard_storage.hpp>
#include <backplane/rest/strategy.hpp>
#include <backplane/types/schema.hpp>

#include <cstdlib>
#include <thread>

#include "gadgets_json.hpp"

#ifndef GADGETS_FAIL
#define GADGETS_FAIL ""
#endif

namespace {

using namespace backplane;

constexpr std::string_view kBuild = BUILD;
constexpr std::string_view kFail = GADGETS_FAIL;

void note(std::string_view what) {
  static Metric& notes = Metric::counter("gadgets_lifecycle_total", "What has happened to the builds.", {"what"});
  notes.add({what});
}

Status fails_in(std::string_view step) { return kFail == step ? internal_error("it fails on purpose") : Status(); }

class Stamper final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "GadgetStamper"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  Task<Status> admit(AdmissionAttributes& attributes) const override {
    if (attributes.object != nullptr) ObjectMeta(*attributes.object).mutable_labels()["build"] = kBuild;
    co_return Status();
  }
};

class Tokens final : public TokenAuthenticator {
 public:
  std::string_view name() const noexcept override { return "gadget-tokens"; }
  Task<AuthenticationResult> authenticate_token(std::string token, std::vector<std::string>) override {
    co_await sleep_for(std::chrono::milliseconds(1));
    std::optional<AuthenticationResponse> known;
    if (token == "gadget-token") known.emplace().user.name = "gadgeteer";
    co_return known;
  }
};

class Rules final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "gadget-rules"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& wanted) override {
    co_return AuthorizerResult{wanted.user->name == "gadgeteer" ? Decision::kAllow : Decision::kNoOpinion, "", {}};
  }
};

class BuildHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    if (context.info.path == "/gadgets/crash") std::abort();
    if (context.info.path == "/gadgets/slow") co_await sleep_for(std::chrono::milliseconds(20));
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static(kBuild));
    co_await exchange.respond(200, "text/plain", std::move(body));
  }
};

class HealthyCheck final : public HealthCheck {
 public:
  std::string name() const override { return "gadgets"; }
  Task<Status> check() override { co_return Status(); }
};

// Memory that is large enough for the test to detect a leak.
constexpr std::size_t kBallast = std::size_t{2} << 20;

class Gadgets final : public Plugin {
 public:
  Gadgets() { note("made"); }
  ~Gadgets() override { note("destroyed"); }

  Status provision(Host& host) override {
    host_ = &host;
    const std::string_view document = gadgets_json();
    auto schemas = SchemaSet::compile({&document, 1}, {meta_schemas()});
    if (!schemas.ok()) return std::move(schemas).status();
    Status status = host.scheme().add_known_types({"test.example.com", "v1"}, *schemas, "gadgets");
    if (status.ok()) status = install(*schemas);
    if (status.ok()) status = host.register_admission(std::make_shared<Stamper>());
    if (status.ok()) status = host.register_authenticator(std::make_shared<Tokens>());
    if (status.ok()) status = host.register_authorizer(std::make_shared<Rules>());
    if (status.ok()) status = host.handle({"/gadgets", true, true, std::make_shared<BuildHandler>()});
    if (status.ok()) status = host.add_health_check(std::make_shared<HealthyCheck>(), {});
    const auto of_hook = std::make_shared<int>();  // owned by the hook alone
    if (status.ok()) status = host.add_post_start_hook("gadgets", [this, of_hook](PostStartHookContext) { return start(); });
    if (status.ok()) status = host.add_pre_shutdown_hook("gadgets", [] { return finish(); });
    host.on_group_versions_changed([](const GroupVersionsChange&) { note("group versions"); });
    host.spawn("waiting", wait(host.stop_signal(), of_hook));
#ifdef GADGETS_PUBLISHES
    (void)host.dynamic_groups();  // such a plugin cannot be changed while the server runs
#endif
#ifdef GADGETS_SLOW
    std::this_thread::sleep_for(std::chrono::seconds(GADGETS_SLOW));
    if (status.ok()) status = host.handle({"/slow-gadgets", true, true, std::make_shared<BuildHandler>()});
#endif
    return status.ok() ? fails_in("provision") : status;
  }
  Status validate() override { return fails_in("validate"); }

 private:
  Status install(const std::shared_ptr<const SchemaSet>& schemas) {
    ResourceConfig config;
    config.kind = {"test.example.com", "v1", "Gadget"};
    config.resource = "gadgets";
    config.schemas = schemas;
    config.schema = schemas->find(config.kind);
    KindFacts facts;
    facts.namespaced = false;
#ifdef GADGETS_FIELD
    facts.selectable = {{"spec.size", "spec.size", "0"}};
#endif
    config.strategy = std::make_shared<Strategy>(std::move(facts));
    config.storage_prefix = "test.example.com/gadgets";
    auto storage = host_->make_storage(config);
    if (!storage.ok()) return std::move(storage).status();
    storage_ = *storage;
    APIGroupInfo group;
    group.group = "test.example.com";
    group.prioritized_versions = {"v1"};
    group.storages["v1"]["gadgets"] = *storage;
    group.schemas["v1"] = schemas;
    return host_->install_api_group(std::move(group));
  }

  Task<Status> start() {
    informers_ = std::make_unique<SharedInformerFactory>(*host_);
    (void)informers_->for_resource({"test.example.com", "v1", "gadgets"});
    informers_->start();
    auto syncing = informers_->wait_for_cache_sync();
    (void)co_await std::move(syncing);
    note("started");
    co_return fails_in("start");
  }
  static Task<Status> finish() {
    note("finished");
    co_return Status();
  }
  // `of_hook` exists until the plugin's tasks have ended.
  static Task<void> wait(Signal& stop, std::weak_ptr<const int> of_hook) {
    auto waiting = stop.wait();
    co_await std::move(waiting);
    note(of_hook.expired() ? "stopped after its hooks were destroyed" : "stopped");
  }

  Host* host_ = nullptr;
  std::string ballast_ = std::string(kBallast, 'x');
  std::shared_ptr<StandardStorage> storage_;  // held, as a plugin does that reads its own objects
  std::unique_ptr<SharedInformerFactory> informers_;
};

}  // namespace

BACKPLANE_PLUGIN(Gadgets)
