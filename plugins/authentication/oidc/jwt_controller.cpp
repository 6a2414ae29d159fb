#include "oidc/jwt_controller.hpp"

#include <algorithm>

#include "backplane/host.hpp"
#include "backplane/kit/server_identity.hpp"
#include "backplane/kit/watched_file.hpp"
#include "backplane/net/egress.hpp"

namespace backplane::authentication {
namespace {

constexpr std::chrono::minutes kReadyLimit{1}, kRetirement{1};
// Shorter than the host's limit of 60 s for a post-start hook, so that the error names the issuer.
constexpr std::chrono::seconds kStartLimit{50};
constexpr std::chrono::milliseconds kReadyInterval{100};
constexpr std::string_view kJwksMetricsGate = "feature-gates.StructuredAuthenticationConfigurationJWKSMetrics";

bool has_issuer(const JwtIssuers& issuers, const std::string& url) {
  return std::any_of(issuers.begin(), issuers.end(), [&](const auto& each) { return each->url() == url; });
}

Result<DialFunction> dialer_of(const Host& host, const std::string& type) {
  if (type.empty()) return DialFunction();
  if (host.flag("egress-selector-config-file").value_or("").empty())
    return bad_request("oidc: egress lookup required with egress selector type " + backplane::quoted(type));
  auto egress = EgressSelector::of(host);
  if (!egress.ok()) return std::move(egress).status();
  DialFunction dial = (*egress)->dialer(type == "cluster" ? EgressType::kCluster : EgressType::kControlPlane);
  if (!dial) return bad_request("oidc: egress lookup for " + backplane::quoted(type) + " is not configured");
  return dial;
}

}  // namespace

JwtController::JwtController(Host& host, JwtSettings settings)
    : host_(host),
      settings_(std::move(settings)),
      jwks_metrics_(host.flag(kJwksMetricsGate).value_or("true") == "true" ? std::make_shared<JwksMetrics>(kit::server_id(kit::host_name()))
                                                                           : nullptr),
      reload_metrics_(reload_metrics(kit::server_id(kit::host_name()))) {}

Result<std::shared_ptr<JwtController>> JwtController::make(Host& host, JwtSettings settings) {
  const std::shared_ptr<JwtController> out(new JwtController(host, std::move(settings)));
  auto issuers = out->make_issuers(out->settings_.config, out->settings_.expressions);
  if (!issuers.ok()) return std::move(issuers).status();
  out->authenticators_ = std::make_shared<JwtAuthenticators>(std::move(*issuers));
  return out;
}

Result<JwtIssuers> JwtController::make_issuers(const AuthenticationConfiguration& config, std::vector<ClaimExpressions> expressions) const {
  JwtIssuers out;
  for (std::size_t i = 0; i < config.jwt.size(); ++i) {
    auto dial = dialer_of(host_, config.jwt[i].issuer.egress_selector_type);
    if (!dial.ok()) return std::move(dial).status();
    out.push_back(std::make_shared<JwtIssuer>(host_, config.jwt[i], std::move(expressions[i]), settings_.algorithms, std::move(*dial),
                                              jwks_metrics_));
  }
  return out;
}

void JwtController::start() {
  for (const auto& issuer : *authenticators_->issuers()) issuer->start();
  if (settings_.file.empty()) return;
  reload_metrics_.in_effect(kit::content_hash(settings_.content));
  const auto changed = [self = shared_from_this()](std::string content) { return self->apply(std::move(content)); };
  const auto failed = [self = shared_from_this()](const Status& status) {
    self->host_.logger().error("failed to read authentication config file error=" + status.message());
    self->reload_metrics_.reloaded(false);
  };
  host_.spawn("authentication-config",
              kit::watch_file(host_.stop_signal(), {settings_.file}, settings_.content, std::move(changed), std::move(failed)));
}

Task<Status> JwtController::wait_for_start() {
  const auto self = shared_from_this();
  const auto issuers = authenticators_->issuers();
  auto waiting = wait_until_ready(*issuers, kStartLimit);
  const std::string problem = co_await std::move(waiting);
  co_return problem.empty() ? Status() : service_unavailable(problem);
}

Task<bool> JwtController::apply(std::string content) {
  const auto fail = [this](std::string_view what, const std::string& why) {
    host_.logger().error(std::string(what) + "; the former configuration stays in effect file=" + settings_.file + " error=" + why);
    reload_metrics_.reloaded(false);
  };
  Result<AuthenticationConfiguration> config;
  ValidatedConfig validated;
  auto work = run_blocking([&] {
    config = decode_authentication_config(content);
    if (config.ok()) validated = validate(*config, settings_.validation);
  });
  co_await std::move(work);
  if (!config.ok()) {
    fail("failed to load authentication config", config.status().message());
    co_return true;
  }
  if (config->anonymous != settings_.config.anonymous) validated.errors.forbidden("anonymous", "changed from initial configuration file");
  if (!validated.errors.empty()) {
    fail("failed to validate authentication config", validated.errors.aggregate_message());
    co_return true;
  }
  auto issuers = make_issuers(*config, std::move(validated.expressions));
  Status status = issuers.ok() ? Status() : issuers.status();
  if (issuers.ok()) {
    auto replacing = replace(std::move(*issuers));
    status = co_await std::move(replacing);
  }
  if (!status.ok()) {
    fail("failed to update authentication config", status.message());
    co_return false;
  }
  host_.logger().info("reloaded authentication config file=" + settings_.file);
  reload_metrics_.reloaded(true);
  reload_metrics_.in_effect(kit::content_hash(content));
  co_return true;
}

Task<Status> JwtController::replace(JwtIssuers issuers) {
  for (const auto& issuer : issuers) issuer->start();
  auto waiting = wait_until_ready(issuers, kReadyLimit);
  const std::string problem = co_await std::move(waiting);
  if (!problem.empty()) {
    for (const auto& issuer : issuers) issuer->stop();
    co_return service_unavailable(problem);
  }
  auto former = authenticators_->issuers();
  authenticators_->use(std::move(issuers));
  host_.spawn("authentication-config-retired", retire(std::move(former)));
  co_return Status();
}

Task<std::string> JwtController::wait_until_ready(const JwtIssuers& issuers, std::chrono::seconds limit) {
  Sleeper sleeper(host_.stop_signal());
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    std::string problem;
    for (const auto& issuer : issuers) {
      const std::string health = issuer->health();
      if (!health.empty()) problem.append(problem.empty() ? "" : ", ").append(health);
    }
    if (problem.empty() || std::chrono::steady_clock::now() >= deadline) co_return problem;
    auto pause = sleeper.sleep(kReadyInterval);
    const bool running = co_await std::move(pause);
    if (!running) co_return problem;
  }
}

Task<void> JwtController::retire(std::shared_ptr<const JwtIssuers> former) {
  const auto self = shared_from_this();
  // Waits, because requests that have begun may still use the former issuers.
  Sleeper sleeper(host_.stop_signal());
  auto pause = sleeper.sleep(kRetirement);
  (void)co_await std::move(pause);
  for (const auto& issuer : *former) issuer->stop();
  if (jwks_metrics_ == nullptr) co_return;
  const auto current = authenticators_->issuers();
  for (const auto& issuer : *former) {
    if (!has_issuer(*current, issuer->url())) jwks_metrics_->forget(kit::content_hash(issuer->url()));
  }
}

}  // namespace backplane::authentication
