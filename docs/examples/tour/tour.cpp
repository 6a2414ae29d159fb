// One of each extension point, as the guide shows them (docs/guide).
#include <backplane/plugin.hpp>
#include <backplane/points/admission.hpp>
#include <backplane/points/authentication.hpp>
#include <backplane/points/authorization.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/types/cel.hpp>

namespace {

using namespace backplane;

// ---- an additional path
class Greeter final : public HttpHandler {
 public:
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    body.emplace_back("Hello, " + context.user->name + "\n");
    co_await exchange.respond(200, "text/plain; charset=utf-8", std::move(body));
  }
};

// ---- a check that /readyz shows
class GreeterCheck final : public HealthCheck {
 public:
  std::string name() const override { return "greeter"; }
  Task<Status> check() override { co_return Status(); }
};

// ---- admission
class NoShouting final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "NoShouting"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool mutates() const noexcept override { return false; }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (attributes.resource.resource != "greetings" || !attributes.object) return Status();
    if (!get_string_path(*attributes.object, "spec.greeting").ends_with('!')) return Status();
    return admission_forbidden(attributes, "no shouting");
  }
};

// ---- an expression, compiled once and run over every object
class ShortGreetings final : public AdmissionPlugin {
 public:
  explicit ShortGreetings(std::shared_ptr<const cel::Program> rule) : rule_(std::move(rule)) {}
  static Result<std::shared_ptr<ShortGreetings>> make(std::string_view rule) {
    cel::EnvironmentOptions options;
    options.variables.push_back({"spec", cel::named_type("dyn")});
    const cel::Compiled compiled = cel::Environment::make(std::move(options))->compile(rule);
    if (compiled.program == nullptr) return bad_request(compiled.problems);
    return std::make_shared<ShortGreetings>(compiled.program);
  }
  std::string_view name() const noexcept override { return "ShortGreetings"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
  bool mutates() const noexcept override { return false; }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (attributes.resource.resource != "greetings" || !attributes.object || fits(*attributes.object)) return Status();
    return admission_forbidden(attributes, rule_->source());
  }

 private:
  bool fits(const Object& greeting) const {
    const cel::Binding bindings[] = {{"spec", find(greeting, "spec")}};
    cel::Budget budget;
    const cel::Outcome outcome = cel::run(*rule_, bindings, budget);
    return outcome.end == cel::Outcome::End::kValue && outcome.value == Value(true);
  }
  std::shared_ptr<const cel::Program> rule_;
};

// ---- authentication and authorization
class DoorKeeper final : public Authenticator {
 public:
  std::string_view name() const noexcept override { return "door-keeper"; }
  std::optional<AuthenticationResult> authenticate_now(RequestContext&, const Exchange& exchange) override {
    std::optional<AuthenticationResponse> known;  // nullopt: not this authenticator's kind of credential, so the next one is called
    if (exchange.header("X-Tour-Pass") == "let me in") {
      known.emplace();
      known->user.name = "visitor";
      known->user.groups = {"system:authenticated"};
    }
    return AuthenticationResult(std::move(known));
  }
  // For credentials that need a wait; authenticate_now() decides all credentials of this authenticator.
  Task<AuthenticationResult> authenticate(RequestContext&, Exchange&) override { co_return std::nullopt; }
};
class VisitorsMayGreet final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "visitors"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    AuthorizerResult result;
    if (request.user.name == "visitor" && request.path == "/tour/greeting") result.decision = Decision::kAllow;
    return result;
  }
};

// ---- work that starts with the server and ends with it
Task<void> stay_until_the_end(Host& host) {
  co_await host.stop_signal().wait();
  host.logger().info("the tour is over");
}
Task<Status> start_staying(Host& host) {
  host.spawn("stay", stay_until_the_end(host));
  co_return Status();
}

class Tour final : public Plugin {
 public:
  Status configure(std::string_view config) override {
    if (config.empty() || config.starts_with('{')) return {};
    return bad_request("the tour's configuration is an object");
  }

  Status provision(Host& host) override {
    host.logger().info("the tour begins");
    auto short_ones = ShortGreetings::make("size(spec.greeting) <= 40");
    if (!short_ones.ok()) return std::move(short_ones).status();
    const Status steps[] = {
        host.handle({"/tour/greeting", false, true, std::make_shared<Greeter>()}),
        host.add_health_check(std::make_shared<GreeterCheck>(), {}),
        host.register_admission(std::make_shared<NoShouting>()),
        host.register_admission(std::move(*short_ones)),
        host.register_authenticator(std::make_shared<DoorKeeper>()),
        host.register_authorizer(std::make_shared<VisitorsMayGreet>()),
        host.add_post_start_hook("tour/stay", [&host](PostStartHookContext) { return start_staying(host); }),
    };
    for (const auto& step : steps) {
      if (!step.ok()) return step;  // the error names the first registrant of a taken name
    }
    return {};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Tour)
