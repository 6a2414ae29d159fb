#include "endpoints/timed_out.hpp"
#include "filters/filters_fixture.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;
using namespace filters_testing;

// The sum of all series of a metric.
double counted(std::string_view name) {
  double all = 0;
  for (const auto& metric : Metric::all()) {
    if (metric.name != name) continue;
    for (const auto& [_, series] : metric.series)
      all += metric.kind == Metric::Kind::kHistogram ? static_cast<double>(series.count) : series.value;
  }
  return all;
}

TEST_F(Filters, TheOrderIsUpstreams) {
  config.shutdown_send_retry_after = true;
  config.strict_transport_security_directives = {"preload"};
  config.goaway_chance = 0.01;
  config.shutdown_watch_termination_grace_period = 1s;
  config.cors_allowed_origins = {"^x$"};
  EXPECT_EQ(HandlerChain(config, handler).names(),
            (std::vector<std::string>{"WithAuditInit", "WithPanicRecovery", "WithMuxAndDiscoveryComplete", "WithRequestReceivedTimestamp",
                                      "WithRequestInfo", "WithHTTPLogging", "WithRetryAfter", "WithHSTS", "WithCacheControl",
                                      "WithProbabilisticGoaway", "WithWatchTerminationDuringShutdown", "WithWaitGroup",
                                      "WithRequestDeadline", "WithTimeoutForNonLongRunningRequests", "WithCORS", "WithAuthentication",
                                      "WithImpersonation", "WithMaxInFlightLimit", "WithAuthorization"}));
}

TEST_F(Filters, AnOrdinaryRequestReachesTheHandlerWithEverythingFilledIn) {
  TestExchange exchange;
  exchange.request_target = "/api/v1/namespaces/x/pods?limit=5";
  exchange.request_headers = {{"audit-id", "my-id"}};
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_EQ(handler.seen, "list");
  EXPECT_EQ(handler.user, "system:apiserver");
  EXPECT_TRUE(handler.mux_incomplete);
  EXPECT_EQ(handler.deadline, 60s);
  EXPECT_EQ(exchange.response_header("Audit-Id"), "my-id");
  EXPECT_EQ(exchange.response_header("Cache-Control"), "no-cache, private");
  EXPECT_EQ(short_requests.count(), 0u);
  EXPECT_EQ(in_flight.running(false), 0);
}

TEST_F(Filters, ARequestWithoutAnIdGetsOne) {
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.response_header("Audit-Id").size(), 36u);
}

TEST_F(Filters, AnExceptionIsAnswered500AndAllResourcesAreReleased) {
  handler.answer = throws;
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  EXPECT_EQ(exchange.body, "This request caused apiserver to panic. Look in the logs for details.\n");
  EXPECT_EQ(short_requests.count(), 0u);
  EXPECT_EQ(in_flight.running(false), 0);
}

Task<void> throw_after_start(RequestContext&, Exchange& exchange) {
  Status status = co_await exchange.start(200, "application/json");
  (void)status;
  throw std::runtime_error("a bug");
}

TEST_F(Filters, AnExceptionAfterTheHeadBreaksTheResponseOff) {
  handler.answer = throw_after_start;
  TestExchange exchange;
  ask(exchange);
  EXPECT_TRUE(exchange.aborted);
  EXPECT_FALSE(exchange.finished);
}

TEST_F(Filters, AnonymousMayReadHealthAndOtherRequestsAreRefusedWithItsName) {
  config.authentication = &by_credential;
  TestExchange health;
  health.major = 2;
  ask(health);
  EXPECT_EQ(health.code, 200);
  EXPECT_TRUE(health.closing);
  TestExchange metrics_request;
  metrics_request.request_target = "/metrics";
  ask(metrics_request);
  EXPECT_EQ(metrics_request.code, 403);
  EXPECT_NE(metrics_request.body.find("forbidden: User \\\"system:anonymous\\\" cannot get path \\\"/metrics\\\""), std::string::npos);
  EXPECT_EQ(handler.calls, 1);
}

TEST_F(Filters, ABadCredentialIs401) {
  config.authentication = &by_credential;
  TestExchange exchange;
  exchange.request_headers = {{"authorization", "Bearer unknown"}};
  ask(exchange);
  EXPECT_EQ(exchange.code, 401);
  EXPECT_NE(exchange.body.find("\"reason\":\"Unauthorized\",\"code\":401"), std::string::npos);
  EXPECT_EQ(handler.calls, 0);
}

TEST_F(Filters, ATimeoutCountsThoughAnotherPairOfTheQueryCannotBeRead) {
  TestExchange shorter;
  shorter.request_target = "/readyz?a=%zz&timeout=5s";
  ask(shorter);
  EXPECT_EQ(handler.deadline, 5s);
}

TEST_F(Filters, WritesOfObjectsEndAfterHalfAMinute) {
  const auto deadline_of = [this](const std::string& method, const std::string& target) {
    TestExchange exchange;
    exchange.request_method = method;
    exchange.request_target = target;
    ask(exchange);
    return handler.deadline;
  };
  const std::string maps = "/api/v1/namespaces/a/configmaps";
  EXPECT_EQ(deadline_of("POST", maps), 34s);
  EXPECT_EQ(deadline_of("PUT", maps + "/b"), 34s);
  EXPECT_EQ(deadline_of("PATCH", maps + "/b"), 34s);
  EXPECT_EQ(deadline_of("DELETE", maps + "/b"), 34s);
  EXPECT_EQ(deadline_of("DELETE", maps), 60s);
  EXPECT_EQ(deadline_of("GET", maps), 60s);
  EXPECT_EQ(deadline_of("POST", "/debug/flags/v"), 60s);
  EXPECT_EQ(deadline_of("POST", maps + "?timeout=5s"), 5s);
}

TEST(TimedOut, AWriteThatReachesItsOwnLimitGetsAnOrdinaryStatus) {
  RequestContext context;
  context.info.is_resource_request = true;
  context.info.verb = "create";
  context.deadline = context.received + 5s;
  EXPECT_EQ(timed_out_answer(context).type, kTimedOutType);
  context.deadline = context.received + kLongestWrite;
  const TimedOutAnswer answer = timed_out_answer(context);
  EXPECT_EQ(answer.type, "application/json");
  EXPECT_NE(answer.body.find("\"message\":\"Timeout: request did not complete within requested timeout - context deadline exceeded\""),
            std::string::npos)
      << answer.body;
}

TEST_F(Filters, ATimeoutInTheUrlShortensTheDeadlineAndABadOneIs400) {
  TestExchange shorter;
  shorter.request_target = "/readyz?timeout=5s";
  ask(shorter);
  EXPECT_EQ(handler.deadline, 5s);
  TestExchange longer;
  longer.request_target = "/readyz?timeout=5m";
  ask(longer);
  EXPECT_EQ(handler.deadline, 60s);
  TestExchange bad;
  bad.request_target = "/readyz?timeout=abc";
  ask(bad);
  EXPECT_EQ(bad.code, 400);
  EXPECT_NE(bad.body.find("invalid timeout specified in the request URL - time: invalid duration \\\"abc\\\""), std::string::npos);
}

NamedSignal* g_release = nullptr;

Task<void> respond_late(RequestContext&, Exchange& exchange) {
  co_await g_release->wait();
  exchange.set_response_header("Late", "yes");
  std::vector<SharedBytes> body;
  body.emplace_back(std::string("late"));
  co_await exchange.respond(200, "text/plain", std::move(body));
}

Task<void> waits_for_gone(RequestContext& context, Exchange& exchange) {
  const auto closed = exchange.on_close([] { g_release->fire(); });
  co_await respond_late(context, exchange);
}

TEST_F(Filters, AtTheDeadlineTheClientGets504AndWhatTheHandlerWritesLaterIsDropped) {
  NamedSignal release("release");
  g_release = &release;
  handler.answer = waits_for_gone;
  TestExchange exchange;
  exchange.request_target = "/readyz?timeout=20ms";
  const double aborts = counted("apiserver_request_aborts_total"), terminations = counted("apiserver_request_terminations_total");
  ask(exchange);
  EXPECT_EQ(exchange.code, 504);
  EXPECT_NE(exchange.body.find("request did not complete within the allotted timeout"), std::string::npos);
  EXPECT_NE(exchange.body.find("\"reason\":\"Timeout\""), std::string::npos);
  EXPECT_EQ(exchange.body.find("late"), std::string::npos);
  EXPECT_EQ(exchange.response_header("Late"), "");
  EXPECT_TRUE(exchange.closing);
  EXPECT_EQ(short_requests.count(), 0u);
  EXPECT_EQ(metrics.access.late(false), 1u);
  EXPECT_EQ(counted("apiserver_request_aborts_total"), aborts) << "nothing of another answer was out";
  EXPECT_EQ(counted("apiserver_request_terminations_total"), terminations + 1);
}

Task<void> streams_late(RequestContext&, Exchange& exchange) {
  const auto closed = exchange.on_close([] { g_release->fire(); });
  Status status = co_await exchange.start(200, "application/json");
  co_await g_release->wait();
  status = co_await exchange.write({});
  EXPECT_FALSE(status.ok());
}

TEST_F(Filters, AtTheDeadlineAnAnswerThatHasBegunIsBrokenOff) {
  NamedSignal release("release");
  g_release = &release;
  handler.answer = streams_late;
  TestExchange exchange;
  exchange.request_target = "/readyz?timeout=20ms";
  const double aborts = counted("apiserver_request_aborts_total");
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_TRUE(exchange.aborted);
  EXPECT_EQ(metrics.access.late(false), 1u);
  EXPECT_EQ(counted("apiserver_request_aborts_total"), aborts + 1);
}

TEST_F(Filters, AResponseThatTheDeadlineBreaksOffIsCountedAsLateAndAborted) {
  NamedSignal aborted("aborted");
  TestExchange exchange;
  exchange.responding = &aborted;
  exchange.request_target = "/readyz?timeout=20ms";
  const double aborts = counted("apiserver_request_aborts_total");
  ask(exchange);
  EXPECT_TRUE(exchange.aborted);
  EXPECT_EQ(metrics.access.late(false), 1u);
  EXPECT_EQ(counted("apiserver_request_aborts_total"), aborts + 1);
}

TEST_F(Filters, CredentialsGoNoFurtherThanAuthentication) {
  TestExchange exchange;
  exchange.request_headers = {
      {"authorization", "Bearer secret"}, {"X-Remote-User", "root"}, {"x-remote-extra-a", "b"}, {"user-agent", "me"}};
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_EQ(handler.token, "");
  EXPECT_EQ(handler.headers, (Headers{{"user-agent", "me"}}));
  EXPECT_TRUE(handler.of_context);
  TestExchange websocket;
  websocket.request_headers = {{"Sec-WebSocket-Protocol", "\tbase64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io,v4"}};
  ask(websocket);
  EXPECT_EQ(handler.headers, (Headers{{"Sec-WebSocket-Protocol", "v5.channel.k8s.io,v4"}}));
  config.authentication = &by_credential;
  TestExchange bad;
  bad.request_headers = {{"authorization", "Bearer secret"}};
  ask(bad);
  EXPECT_EQ(bad.code, 401);
  EXPECT_EQ(handler.calls, 2);
}

TEST_F(Filters, UnauthenticatedHttp2ConnectionsCloseAfterOneRequestIfTheGateIsOn) {
  config.authentication = &by_credential;
  TestExchange first;
  first.major = 2;
  ask(first);
  EXPECT_TRUE(first.closing);
  config.close_after_unauthenticated = false;
  TestExchange second;
  second.major = 2;
  ask(second);
  EXPECT_FALSE(second.closing);
}

TEST_F(Filters, MoreThanTheLimitIs429ForAllButTheSuperuser) {
  InFlightLimits full(1, 1);
  ASSERT_TRUE(full.try_enter(false));
  config.in_flight = &full;
  TestExchange admin;
  ask(admin);
  EXPECT_EQ(admin.code, 200);
  config.authentication = &by_credential;
  TestExchange anonymous;
  ask(anonymous);
  EXPECT_EQ(anonymous.code, 429);
  EXPECT_EQ(anonymous.response_header("Retry-After"), "1");
  EXPECT_EQ(anonymous.body, "Too many requests, please try again later.\n");
  EXPECT_EQ(full.running(false), 1);
}

TEST(InFlight, TheMostOfAPeriodIsShownInTheNext) {
  InFlightLimits limits(3, 0);
  for (int i = 0; i < 5; ++i) limits.try_enter(false);
  limits.try_enter(true);
  for (int i = 0; i < 2; ++i) limits.leave(false);
  limits.leave(true);
  EXPECT_EQ(limits.highest(false), 0) << "the period has not ended";
  limits.next_period();
  EXPECT_EQ(limits.highest(false), 3) << "those over the limit did not run";
  EXPECT_EQ(limits.highest(true), 1);
  limits.next_period();
  EXPECT_EQ(limits.highest(false), 1) << "it ran on";
  EXPECT_EQ(limits.highest(true), 0);
}

TEST_F(Filters, OnceTheDrainWaitsShortRequestsAreSentAwayButHealthIsServed) {
  short_requests.start_waiting();
  EXPECT_TRUE(short_requests.drained().fired());
  TestExchange request;
  request.request_target = "/api/v1/pods";
  ask(request);
  EXPECT_EQ(request.code, 503);
  EXPECT_EQ(request.response_header("Retry-After"), "1");
  EXPECT_NE(request.body.find("apiserver is shutting down"), std::string::npos);
  TestExchange health;
  ask(health);
  EXPECT_EQ(health.code, 200);
}

TEST_F(Filters, ARequestThatCameJustInTimeIsServedAsTheLastOfItsConnection) {
  not_accepting.fire();
  TestExchange request;
  request.request_target = "/api/v1/pods";
  ask(request);
  EXPECT_EQ(request.code, 200);
  EXPECT_TRUE(request.closing);
}

TEST_F(Filters, WithRetryAfterNewRequestsGet429AndTheConnectionEnds) {
  config.shutdown_send_retry_after = true;
  not_accepting.fire();
  TestExchange request;
  request.request_target = "/api/v1/pods";
  ask(request);
  EXPECT_EQ(request.code, 429);
  EXPECT_EQ(request.response_header("Retry-After"), "5");
  EXPECT_EQ(request.body, "The apiserver is shutting down, please try again later.\n");
  EXPECT_TRUE(request.closing);
  TestExchange own;
  own.request_target = "/api/v1/pods";
  own.request_headers = {{"user-agent", "kube-apiserver/v1"}};
  ask(own);
  EXPECT_EQ(own.code, 200);
}

Task<void> streams(RequestContext&, Exchange& exchange) {
  Status status = co_await exchange.start(200, "application/json");
  EXPECT_TRUE(status.ok());
  co_await exchange.finish();
}

TEST_F(Filters, WatchesAreCountedWhenAGracePeriodIsSetAndRefusedInTheDrain) {
  config.shutdown_watch_termination_grace_period = 1s;
  handler.answer = streams;
  TestExchange watch;
  watch.request_target = "/api/v1/pods?watch=1";
  ask(watch);
  EXPECT_TRUE(watch.finished);
  EXPECT_EQ(watches.count(), 0u);
  watches.start_waiting(1s);
  EXPECT_TRUE(watches.drained().fired());
  TestExchange late;
  late.request_target = "/api/v1/pods?watch=1";
  ask(late);
  EXPECT_EQ(late.code, 503);
}

Task<Exchange*> exchange_after(HandlerChain& chain, TestExchange& exchange, Exchange* before) {
  RequestContext context;
  context.exchange = before;
  co_await chain.handle(context, exchange);
  co_return context.exchange;
}

TEST_F(Filters, AfterAnExceptionTheCurrentExchangeIsTheOneBefore) {
  config.shutdown_watch_termination_grace_period = 1s;
  handler.answer = throws;
  for (const std::string_view target : {"/api/v1/pods?watch=1", "/api/v1/pods"}) {
    TestExchange exchange;
    exchange.request_target = target;
    exchange.request_headers = {{"authorization", "Bearer secret"}};
    HandlerChain chain(config, handler);
    EXPECT_EQ(run_on(loop, exchange_after(chain, exchange, &exchange)), &exchange) << target;
    EXPECT_EQ(exchange.code, 500);
  }
}

// ---- metrics of requests

TEST_F(Filters, AuthenticationAndAuthorizationAreCounted) {
  AccessMetrics& access = metrics.access;
  TestExchange own;
  own.request_target = "/api/v1/namespaces/x/pods?limit=5";
  ask(own);
  EXPECT_EQ(access.authentication(AccessMetrics::kSuccess).count(), 1u);
  EXPECT_EQ(access.authorization(AccessMetrics::kAllowed).count(), 1u);
  EXPECT_EQ(access.requests_of(AccessMetrics::kUsers.size() - 1), 1u) << "other";
  config.authentication = &by_credential;
  TestExchange nobody;
  nobody.request_target = "/metrics";
  ask(nobody);
  EXPECT_EQ(access.authorization(AccessMetrics::kNoOpinion).count(), 1u);
  EXPECT_EQ(authorization.decisions(0).allowed, 0u) << "the server's own requests are not authorized";
  TestExchange health;
  ask(health);
  EXPECT_EQ(authorization.decisions(0).allowed, 1u);
  TestExchange bad;
  bad.request_headers = {{"authorization", "Bearer unknown"}};
  ask(bad);
  EXPECT_EQ(access.authentication(AccessMetrics::kSuccess).count(), 3u);
  EXPECT_EQ(access.authentication(AccessMetrics::kFailed).count(), 1u);
  EXPECT_EQ(access.authentication(AccessMetrics::kFailure).count(), 0u);
  AuthenticationConfig strict;
  strict.anonymous = false;
  const UnionAuthentication known_only(strict);
  config.authentication = &known_only;
  TestExchange anonymous;
  ask(anonymous);
  EXPECT_EQ(anonymous.code, 401);
  EXPECT_EQ(access.authentication(AccessMetrics::kFailure).count(), 1u);
  metrics.reset();
  EXPECT_EQ(access.authentication(AccessMetrics::kSuccess).count(), 0u);
}

TEST(AccessMetricsTest, NoNameOfAPersonIsALabel) {
  AccessMetrics access;
  for (const char* user : {"kubelet", "jane@example.com", "jane", "system:serviceaccount:kube-system:default"}) {
    access.authenticated(AccessMetrics::kSuccess, 3ms, user);
  }
  const std::vector<std::uint64_t> wanted = {0, 0, 0, 1, 1, 1, 1};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(access.requests_of(i), wanted[i]) << AccessMetrics::kUsers[i];
  EXPECT_EQ(access.authentication(AccessMetrics::kSuccess).in_bucket(2), 4u) << "(2 ms, 4 ms]";
  // Regression: the duration of filters was not measured.
  EXPECT_EQ(access.filter(0).in_bucket(3), 4u) << "authentication, (1 ms, 3 ms]";
  EXPECT_EQ(access.filter(1).count(), 0u) << "authorization";
}

// ---- plugins that end on another executor

class AuthenticatedOnOtherExecutor final : public Authentication {
 public:
  AuthenticatedOnOtherExecutor(Executor& executor, UserInfo user) : executor_(executor), user_(std::move(user)) {}
  std::optional<Result<UserRef>> authenticate_now(RequestContext&, Exchange&) const override { return std::nullopt; }
  Task<Result<UserRef>> authenticate(RequestContext&, Exchange&) const override {
    co_await resume_on(executor_);
    if (user_.name.empty()) throw std::runtime_error("no name");
    co_return user_;
  }

 private:
  Executor& executor_;
  UserInfo user_;
};

class AuthorizedOnOtherExecutor final : public Authorizer {
 public:
  AuthorizedOnOtherExecutor(Executor& executor, Decision decision) : executor_(executor), decision_(decision) {}
  std::string_view name() const noexcept override { return "elsewhere"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override {
    co_await resume_on(executor_);
    co_return AuthorizerResult{decision_, "", {}};
  }

 private:
  Executor& executor_;
  Decision decision_;
};

class AllowsName final : public Authorizer {
 public:
  explicit AllowsName(std::string allowed) : allowed_(std::move(allowed)) {}
  std::string_view name() const noexcept override { return "one-name"; }
  std::optional<AuthorizerResult> decide_now(const RequestView& request) const override {
    return AuthorizerResult{request.name == allowed_ ? Decision::kAllow : Decision::kNoOpinion, "", {}};
  }

 private:
  std::string allowed_;
};

TEST_F(Filters, PluginsThatEndOnAnotherExecutorDoNotTakeTheRequestThere) {
  IoLoop foreign("foreign");
  foreign.start();
  UserInfo jane;
  jane.name = "jane";
  const AuthenticatedOnOtherExecutor authenticated(foreign, jane);
  config.authentication = &authenticated;
  for (const auto& [decision, code] : {std::pair{Decision::kAllow, 200}, std::pair{Decision::kDeny, 403}}) {
    Authorization authorized({std::make_shared<AuthorizedOnOtherExecutor>(foreign, decision)});
    config.authorization = &authorized;
    TestExchange exchange;
    exchange.expected_executor = &loop;
    exchange.major = 2;
    ask(exchange);
    EXPECT_EQ(exchange.code, code);
    EXPECT_EQ(exchange.wrong_executor_calls, 0) << code;
  }
  foreign.stop();
}

TEST_F(Filters, AnAuthenticatorThatThrowsOnAnotherExecutorDoesNotTakeTheRequestThere) {
  IoLoop foreign("foreign");
  foreign.start();
  const AuthenticatedOnOtherExecutor nameless(foreign, UserInfo());
  config.authentication = &nameless;
  TestExchange exchange;
  exchange.expected_executor = &loop;
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  EXPECT_EQ(exchange.wrong_executor_calls, 0);
  foreign.stop();
}

TEST_F(Filters, HandlersGetNoIdentityHeaders) {
  config.request_header.client_ca_file = "ca.crt";
  config.request_header.username_headers = {"X-Remote-User", "X-My-User"};
  config.request_header.uid_headers = {"X-My-Uid"};
  config.request_header.group_headers = {"X-My-Group"};
  config.request_header.extra_prefixes = {"X-My-Extra-"};
  TestExchange exchange;
  exchange.request_headers = {{"authorization", "Bearer a"}, {"x-remote-uid", "1"},    {"x-my-user", "a"},        {"x-my-uid", "1"},
                              {"x-my-group", "g"},           {"X-My-Extra-Color", ""}, {"x-remote-extra-a", "b"}, {"x-my-other", "kept"}};
  ask(exchange);
  EXPECT_EQ(exchange.code, 200);
  EXPECT_EQ(handler.headers, (Headers{{"x-my-other", "kept"}}));

  config.request_header.client_ca_file.clear();
  ask(exchange);
  EXPECT_EQ(handler.headers.size(), 5u) << "without front proxies only the usual names are known";
}

TEST_F(Filters, ARightForOneNameDoesNotHoldForAListWhoseOptionsCannotBeRead) {
  config.authentication = &by_credential;
  Authorization only_a({std::make_shared<AllowsName>("a")});
  config.authorization = &only_a;
  for (const auto& [more, code] : {std::pair{"", 200}, std::pair{"&labelSelector=a%20in%20(", 403}, std::pair{"&limit=x", 403}}) {
    TestExchange exchange;
    exchange.request_target = std::string("/api/v1/pods?fieldSelector=metadata.name%3Da") + more;
    ask(exchange);
    EXPECT_EQ(exchange.code, code) << more;
  }
}

TEST_F(Filters, CorsPreflightsAreAnsweredBeforeAuthentication) {
  config.authentication = &by_credential;
  config.cors_allowed_origins = {"^https://good\\.example$"};
  TestExchange preflight;
  preflight.request_method = "OPTIONS";
  preflight.request_target = "/api/v1/pods";
  preflight.request_headers = {{"origin", "https://good.example"}};
  ask(preflight);
  EXPECT_EQ(preflight.code, 204);
  EXPECT_EQ(preflight.response_header("Access-Control-Allow-Origin"), "https://good.example");
  TestExchange other;
  other.request_headers = {{"origin", "https://bad.example"}};
  ask(other);
  EXPECT_EQ(other.response_header("Access-Control-Allow-Origin"), "");
}

TEST_F(Filters, LongOriginsAreServedWithoutCorsHeaders) {
  config.cors_allowed_origins = {"^https://.*\\.good\\.example$", "^(https|http)+//(a+)+$"};
  for (const std::size_t size : {100u, 500u, 60'000u}) {
    TestExchange exchange;
    exchange.request_headers = {{"origin", "https://" + std::string(size, 'a')}};
    ask(exchange);
    EXPECT_EQ(exchange.code, 200) << size;
    EXPECT_EQ(exchange.response_header("Access-Control-Allow-Origin"), "") << size;
  }
}

TEST_F(Filters, HstsIsSentWhenAskedFor) {
  config.strict_transport_security_directives = {"max-age=1", "preload"};
  TestExchange exchange;
  ask(exchange);
  EXPECT_EQ(exchange.response_header("Strict-Transport-Security"), "max-age=1; preload");
}

TEST_F(Filters, AWatchPathWithoutAResourceIsAServerErrorAsUpstream) {
  TestExchange exchange;
  exchange.request_target = "/api/v1/watch";
  ask(exchange);
  EXPECT_EQ(exchange.code, 500);
  EXPECT_TRUE(exchange.body.starts_with("Internal Server Error: \"/api/v1/watch\": ")) << exchange.body;
}
}  // namespace
}  // namespace backplane
