#include "oidc/jwt_issuer.hpp"

#include "backplane/host.hpp"

namespace backplane::authentication {
namespace {

constexpr std::chrono::seconds kRetryInterval{10};
// The time limit for one token and all requests that it causes. Upstream has the same limit for a look-up of its token cache.
constexpr std::chrono::seconds kTokenLimit{30};

}  // namespace

JwtIssuer::JwtIssuer(Host& host, JwtConfig config, ClaimExpressions expressions, SigningAlgorithms algorithms, DialFunction dial,
                     std::shared_ptr<JwksMetrics> metrics)
    : host_(host),
      url_(config.issuer.url),
      url_hash_(kit::content_hash(url_)),
      discovery_url_(config.issuer.discovery_url),
      users_(config, std::move(expressions)),
      rules_{config.issuer.audiences, std::move(algorithms)},
      client_(std::make_shared<OidcClient>(host, config.issuer.certificate_authority, std::move(dial))),
      metrics_(std::move(metrics)),
      distributed_(config.groups.claim.empty() ? nullptr : std::make_shared<DistributedClaims>(host, config.groups.claim, client_, rules_)),
      problem_(std::make_shared<const std::string>("oidc: authenticator for issuer " + backplane::quoted(url_) + " is not initialized")) {}

void JwtIssuer::start() { host_.spawn("oidc-issuer", initialize()); }

void JwtIssuer::stop() {
  stopped_ = true;
  if (const auto verifier = verifier_.get()) verifier->stop();
  if (distributed_) distributed_->stop();
}

std::string JwtIssuer::health() const {
  const auto problem = problem_.get();
  if (problem == nullptr) return {};
  return "oidc: authenticator for issuer " + backplane::quoted(url_) + " is not healthy: " + *problem;
}

Task<void> JwtIssuer::initialize() {
  const auto self = shared_from_this();
  Sleeper sleeper(host_.stop_signal());
  while (!stopped_ && !host_.stop_signal().fired()) {
    auto trying = discover();
    Status status = co_await std::move(trying);
    if (status.ok()) {
      host_.logger().info("an OpenID issuer is ready issuer=" + url_);
      co_return;
    }
    problem_.set(std::make_shared<const std::string>(status.message()));
    host_.logger().error("oidc authenticator: initializing plugin: " + status.message() + " issuer=" + url_);
    auto pause = sleeper.sleep(kRetryInterval);
    const bool running = co_await std::move(pause);
    if (!running) co_return;
  }
}

Task<Status> JwtIssuer::discover() {
  const auto observe = [metrics = metrics_, hash = url_hash_](const std::string* key_set) {
    if (metrics == nullptr) return;
    if (key_set == nullptr)
      metrics->failed(hash);
    else
      metrics->fetched(hash, *key_set);
  };
  auto discovering = IdTokenVerifier::discover(host_, client_, url_, discovery_url_, rules_, observe);
  auto made = co_await std::move(discovering);
  if (!made.ok()) co_return std::move(made).status();
  verifier_.set(*made);
  problem_.set(nullptr);
  if (stopped_) (*made)->stop();
  co_return Status();
}

Task<Result<UserInfo>> JwtIssuer::authenticate(std::string token) {
  const auto begin = std::chrono::steady_clock::now();
  auto checking = authenticate_uncounted(std::move(token));
  auto user = co_await std::move(checking);
  count_jwt_authentication(user.ok(), url_hash_, std::chrono::steady_clock::now() - begin);
  co_return user;
}

Task<Result<UserInfo>> JwtIssuer::authenticate_uncounted(std::string token) {
  const auto self = shared_from_this();
  const auto verifier = verifier_.get();
  if (verifier == nullptr) co_return unauthorized("oidc: authenticator not initialized");
  const OidcClient::Deadline deadline = std::chrono::steady_clock::now() + kTokenLimit;
  auto verifying = verifier->verify(std::move(token), deadline);
  auto claims = co_await std::move(verifying);
  if (!claims.ok()) co_return unauthorized("oidc: verify token: " + claims.status().message());
  if (distributed_) {
    auto expanding = distributed_->expand(*claims, deadline);
    Status status = co_await std::move(expanding);
    if (!status.ok()) co_return unauthorized("oidc: could not expand distributed claims: " + status.message());
  }
  co_return users_.user_of(*claims);
}

}  // namespace backplane::authentication
