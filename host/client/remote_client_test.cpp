#include "client/remote_client.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <fstream>

#include "backplane/core/metrics.hpp"
#include "backplane/net/certificate_flaws.hpp"
#include "http/testing/pieces.hpp"
#include "transport/secure_server.hpp"
#include "transport/tls_test_client.hpp"

namespace backplane {
namespace {

using test::TestHandler;

struct Got {
  int code = 0;
  std::string body;
  Status status;
  std::string header;
};

Task<Got> fetch(std::shared_ptr<HttpClient> client, HttpCall call) {
  Got got;
  auto answer = co_await client->call(std::move(call));
  if (!answer.ok()) {
    got.status = std::move(answer).status();
    co_return got;
  }
  got.code = (*answer)->code();
  for (const auto& [name, value] : (*answer)->headers()) {
    if (name == "x-test" || name == "X-Test") got.header = value;
  }
  auto body = co_await read_all(**answer);
  if (body.ok()) got.body = std::move(*body);
  if (!body.ok()) got.status = std::move(body).status();
  co_return got;
}

HttpCall get(std::string target) {
  HttpCall call;
  call.target = std::move(target);
  return call;
}

// Reads a part of an endless response, and abandons it.
Task<std::size_t> read_first_chunk(std::shared_ptr<HttpClient> client, std::string target) {
  auto answer = co_await client->call(get(std::move(target)));
  if (!answer.ok()) co_return std::size_t{0};
  auto some = co_await (*answer)->read();
  const std::size_t size = some.ok() ? some->size() : 0;
  co_return size;
}

Task<bool> wait(Promise<bool> what) {
  const bool value = co_await what.future();
  co_return value;
}

Task<void> wait_for_nothing() { co_return; }

// The parameters of a test: the protocol, and whether each loop has its own connections.
struct TransportCase {
  bool http2;
  bool own;
};

class RemoteClientTest : public testing::TestWithParam<TransportCase> {
 protected:
  RemoteClientTest() : loops_(2) {
    std::string pattern = testing::TempDir() + "backplane-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    loops_.start();
    ca_ = *issue_certificate({.use = CertificateUse::kAuthority, .common_name = "ca"}, nullptr);
    const KeyPair pair = *issue_certificate({.common_name = "server", .ip_addresses = {"127.0.0.1"}}, &ca_);
    options_.port = 0;
    options_.certificate = {folder_ + "/s.crt", folder_ + "/s.key"};
    EXPECT_TRUE(write_file_atomically(options_.certificate.key, pair.key_pem, 0600).ok());
    EXPECT_TRUE(write_file_atomically(options_.certificate.certificate, pair.certificate_pem, 0600).ok());
    options_.client_ca_file = folder_ + "/ca.crt";
    EXPECT_TRUE(write_file_atomically(options_.client_ca_file, ca_.certificate_pem, 0600).ok());
    server_ = std::make_unique<SecureServer>(options_, loops_, handler_);
    EXPECT_TRUE(server_->start().ok());
    config_.server = "https://127.0.0.1:" + std::to_string(server_->port());
    config_.certificate_authority = ca_.certificate_pem;
    config_.http2 = GetParam().http2;
  }
  ~RemoteClientTest() override {
    handler_.release.set(true);
    client_.reset();
    server_->stop_listening();
    server_->force_close();
    EXPECT_TRUE(run_on(loops_.loop(1), server_->wait_closed(std::chrono::steady_clock::now() + std::chrono::seconds(20))));
    server_.reset();
    tasks_.close();
    run_on(loops_.loop(1), tasks_.wait_all());
    loops_.stop();
    std::filesystem::remove_all(folder_);
  }
  std::shared_ptr<HttpClient> client() {
    if (!client_) {
      auto made = make_remote_client(loops_.loop(0), tasks_, config_, GetParam().own ? &loops_ : nullptr);
      EXPECT_TRUE(made.ok()) << made.status().message();
      client_ = *made;
    }
    return client_;
  }
  // The caller runs on another loop than the connections, unless each loop has its own connections.
  Got fetch_here(HttpCall call) { return run_on(loops_.loop(1), fetch(client(), std::move(call))); }

  // Replaced atomically, so that a reader sees complete files only.
  void write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(folder_ + "/" + name, text, 0600).ok());
  }
  void show(const std::string& name) {
    const KeyPair pair = *issue_certificate({.use = CertificateUse::kClient, .common_name = name}, &ca_);
    write("c.key", pair.key_pem);
    write("c.crt", pair.certificate_pem);
  }
  void show_files() {
    config_.client_certificate_file = folder_ + "/c.crt";
    config_.client_key_file = folder_ + "/c.key";
    config_.reload_interval = std::chrono::milliseconds(0);
  }

  LoopPool loops_;
  LoggedTaskGroup tasks_;
  TestHandler handler_;
  std::string folder_;
  KeyPair ca_;
  ServingOptions options_;
  std::unique_ptr<SecureServer> server_;
  ClientConfig config_;
  std::shared_ptr<HttpClient> client_;
};

TEST_P(RemoteClientTest, GetsAndSends) {
  const Got hello = fetch_here(get("/hello"));
  EXPECT_EQ(hello.code, 200) << hello.status.message();
  EXPECT_EQ(hello.body, "hello");
  EXPECT_EQ(hello.header, "yes");
  HttpCall echo = get("/echo");
  echo.method = "POST";
  echo.body = std::string(300'000, 'b');
  EXPECT_EQ(fetch_here(echo).body, echo.body);
  EXPECT_EQ(fetch_here(get("/stream")).body, "part0\npart1\npart2\n");
  EXPECT_EQ(fetch_here(get("/large")).body.size(), handler_.large_size);
}

TEST_P(RemoteClientTest, ShowsItsCertificate) {
  const KeyPair pair = *issue_certificate({.use = CertificateUse::kClient, .common_name = "me"}, &ca_);
  config_.client_certificate = pair.certificate_pem;
  config_.client_key = pair.key_pem;
  EXPECT_EQ(fetch_here(get("/cert")).body, "me");
}

Task<void> fetch_into(std::shared_ptr<HttpClient> client, HttpCall call, Promise<Got> done) {
  Got got = co_await fetch(std::move(client), std::move(call));
  done.set(std::move(got));
}
Task<Got> wait_for(Promise<Got> done) {
  Got got = co_await done.future();
  co_return got;
}

TEST_P(RemoteClientTest, AChangedCertificateIsShownByNewConnectionsAndCallsInFlightGoOn) {
  show_files();
  show("me");
  EXPECT_EQ(fetch_here(get("/cert")).body, "me");
  Promise<Got> held;
  spawn_detached(loops_.loop(1), fetch_into(client(), get("/hold"), held));
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.held)));
  show("successor");
  EXPECT_EQ(fetch_here(get("/cert")).body, "successor");
  handler_.release.set(true);
  EXPECT_EQ(run_on(loops_.loop(1), wait_for(held)).code, 200);
}

TEST_P(RemoteClientTest, FilesThatCannotBeUsedChangeNothing) {
  show_files();
  show("me");
  EXPECT_EQ(fetch_here(get("/cert")).body, "me");
  write("c.crt", "no certificate");
  EXPECT_EQ(fetch_here(get("/cert")).body, "me");
  show("successor");
  EXPECT_EQ(fetch_here(get("/cert")).body, "successor");
}

TEST_P(RemoteClientTest, AnAuthorityIsReadAgainWhenItsFileChanges) {
  const KeyPair other = *issue_certificate({.use = CertificateUse::kAuthority, .common_name = "other"}, nullptr);
  config_.certificate_authority.clear();
  config_.certificate_authority_file = folder_ + "/trusted.crt";
  config_.reload_interval = std::chrono::milliseconds(0);
  write("trusted.crt", other.certificate_pem);
  EXPECT_EQ(fetch_here(get("/hello")).status.reason(), Reason::kServiceUnavailable);
  write("trusted.crt", ca_.certificate_pem);
  EXPECT_EQ(fetch_here(get("/hello")).code, 200);
}

TEST_P(RemoteClientTest, FilesAreNotReadAgainBeforeTheirTime) {
  show_files();
  config_.reload_interval = std::chrono::hours(1);
  show("me");
  EXPECT_EQ(fetch_here(get("/cert")).body, "me");
  show("successor");
  EXPECT_EQ(fetch_here(get("/cert")).body, "me");
}

HttpCall upload(std::string target, std::shared_ptr<BodySource> source) {
  HttpCall call = get(std::move(target));
  call.method = "POST";
  call.body_source = std::move(source);
  return call;
}

TEST_P(RemoteClientTest, ABodyIsSentAsItIsMade) {
  const Got got = fetch_here(upload("/count", std::make_shared<test::Pieces>(40)));
  EXPECT_EQ(got.body, "2000000") << got.status.message();
  EXPECT_EQ(fetch_here(upload("/count", std::make_shared<test::Pieces>(0))).body, "2000000") << "nothing is added";
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
}

// Regression: bytes after the first portion were not sent if the socket accepted the whole portion at once.
TEST_P(RemoteClientTest, ABodyMayComeInLargePieces) {
  HttpCall call = upload("/count", std::make_shared<test::Pieces>(2, 1'000'000));
  call.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const Got got = fetch_here(call);
  EXPECT_EQ(got.body, "2000000") << got.status.message();
}

TEST_P(RemoteClientTest, NoMoreOfABodyIsMadeThanTheServerTakes) {
  const auto source = std::make_shared<test::Pieces>(1'000'000);
  HttpCall call = upload("/hold", source);
  call.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  EXPECT_EQ(fetch_here(call).status.reason(), Reason::kTimeout);
  EXPECT_GT(source->made.load(), 0u);
  EXPECT_LT(source->made.load(), std::size_t{64} << 20);
}

TEST_P(RemoteClientTest, ABodyThatCannotBeMadeBreaksTheCallOff) {
  const auto source = std::make_shared<test::Pieces>(1);
  source->error = internal_error("the disk is gone");
  EXPECT_EQ(fetch_here(upload("/count", source)).status.message(), "Internal error occurred: the disk is gone");
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
}

TEST_P(RemoteClientTest, AnAnswerBeforeTheEndOfTheBodyCounts) {
  const auto source = std::make_shared<test::Pieces>(1'000'000);
  const Got got = fetch_here(upload("/hello", source));
  EXPECT_EQ(got.code, 200) << got.status.message();
  EXPECT_EQ(got.body, "hello") << got.status.message();
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
}

double counted(const std::string& name) {
  for (const Metric::Snapshot& metric : Metric::all()) {
    if (metric.name == name) return metric.series.begin()->second.value;
  }
  return -1;
}

// Certificates that other clients refuse are counted, whether this client accepts them or not.
TEST_P(RemoteClientTest, CallsToServersWithObsoleteCertificatesAreCounted) {
  const std::string prefix = GetParam().http2 ? (GetParam().own ? "a" : "b") : (GetParam().own ? "c" : "d");
  const auto serve = [&](const KeyPair& pair) {
    write("s.key", pair.key_pem);
    write("s.crt", pair.certificate_pem);
    server_->stop_listening();
    server_->force_close();
    EXPECT_TRUE(run_on(loops_.loop(1), server_->wait_closed(std::chrono::steady_clock::now() + std::chrono::seconds(20))));
    server_ = std::make_unique<SecureServer>(options_, loops_, handler_);
    EXPECT_TRUE(server_->start().ok());
    config_.server = "https://127.0.0.1:" + std::to_string(server_->port());
    client_.reset();
    client_ = count_certificate_flaws(client(), prefix);
  };
  show_certificate_flaws(prefix);
  EXPECT_EQ(fetch_here(get("/hello")).code, 200);
  serve(*issue_certificate({.common_name = "server", .ip_addresses = {"127.0.0.1"}}, &ca_));
  EXPECT_EQ(fetch_here(get("/hello")).code, 200);
  EXPECT_EQ(counted(prefix + "_x509_missing_san_total"), 0);
  config_.insecure_skip_tls_verify = true;
  serve(*issue_certificate({.common_name = "server"}, &ca_));
  EXPECT_EQ(fetch_here(get("/hello")).code, 200);
  EXPECT_EQ(fetch_here(get("/hello")).code, 200);
  EXPECT_EQ(counted(prefix + "_x509_missing_san_total"), 2);
  config_.insecure_skip_tls_verify = false;
  config_.tls_server_name = "server";
  serve(*issue_certificate({.common_name = "server"}, &ca_));
  EXPECT_EQ(fetch_here(get("/hello")).status.message(),
            "tls: failed to verify certificate: x509: certificate relies on legacy Common Name field, use SANs instead");
  EXPECT_EQ(counted(prefix + "_x509_missing_san_total"), 3);
  EXPECT_EQ(counted(prefix + "_x509_insecure_sha1_total"), 0);
}

TEST_P(RemoteClientTest, TrustsNoOtherAuthority) {
  const KeyPair other = *issue_certificate({.use = CertificateUse::kAuthority, .common_name = "other"}, nullptr);
  config_.certificate_authority = other.certificate_pem;
  const Got got = fetch_here(get("/hello"));
  EXPECT_EQ(got.status.reason(), Reason::kServiceUnavailable);
  EXPECT_NE(got.status.message().find("tls: failed to verify certificate: x509: certificate signed by unknown authority"),
            std::string::npos)
      << got.status.message();
  EXPECT_EQ(handler_.calls, 0);
}

TEST_P(RemoteClientTest, TrustsNoOtherName) {
  config_.tls_server_name = "elsewhere.example.com";
  const Status refused = fetch_here(get("/hello")).status;
  EXPECT_EQ(refused.reason(), Reason::kServiceUnavailable);
  EXPECT_EQ(refused.message(),
            "tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match elsewhere.example.com");
  client_.reset();
  config_.tls_server_name = "10.1.2.3";
  EXPECT_EQ(fetch_here(get("/hello")).status.message(),
            "tls: failed to verify certificate: x509: certificate is valid for 127.0.0.1, not 10.1.2.3");
  config_.tls_server_name.clear();
  client_.reset();
  EXPECT_EQ(fetch_here(get("/hello")).code, 200);
}

TEST_P(RemoteClientTest, ADeadlineEndsTheCallOnBothSides) {
  HttpCall call = get("/hold");
  call.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const Got got = fetch_here(call);
  EXPECT_EQ(got.status.reason(), Reason::kTimeout);
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.closed)));
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello") << "the client goes on";
}

HttpCall lasting(std::string target) {
  HttpCall call = get(std::move(target));
  call.lasting = true;
  return call;
}

// Regression: the call waited for as long as the server was silent.
TEST_P(RemoteClientTest, ACallWithoutADeadlineHasThatOfItsClientUnlessItIsLasting) {
  config_.call_timeout = std::chrono::milliseconds(200);
  Promise<Got> watched;
  spawn_detached(loops_.loop(1), fetch_into(client(), lasting("/hold"), watched));
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.held)));
  EXPECT_EQ(fetch_here(get("/hold")).status.reason(), Reason::kTimeout);
  handler_.release.set(true);
  EXPECT_EQ(run_on(loops_.loop(1), wait_for(watched)).code, 200) << "a lasting call was ended";
}

// Regression: over HTTP/1.1 each watch took one of the connections of ordinary calls, until none was left.
TEST_P(RemoteClientTest, LastingCallsLeaveRoomForOthers) {
  config_.max_connections = 2;
  std::vector<Promise<Got>> watched(5);
  for (const Promise<Got>& each : watched) spawn_detached(loops_.loop(1), fetch_into(client(), lasting("/hold"), each));
  HttpCall call = get("/hello");
  call.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  EXPECT_EQ(fetch_here(call).body, "hello");
  handler_.release.set(true);
  for (const Promise<Got>& each : watched) EXPECT_EQ(run_on(loops_.loop(1), wait_for(each)).code, 200);
}

TEST_P(RemoteClientTest, ALastingCallThatNeedsAConnectionTooManyIsRefused) {
  config_.max_lasting_connections = 2;
  std::vector<Promise<Got>> watched(2);
  for (const Promise<Got>& each : watched) spawn_detached(loops_.loop(1), fetch_into(client(), lasting("/hold"), each));
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.held)));
  if (!GetParam().http2) {
    const Got refused = fetch_here(lasting("/hello"));
    EXPECT_EQ(refused.status.reason(), Reason::kTooManyRequests);
    EXPECT_TRUE(refused.status.message().starts_with("long-running calls use the maximum of 2 connections to 127.0.0.1:"))
        << refused.status.message();
  } else {
    EXPECT_EQ(fetch_here(lasting("/hello")).code, 200) << "HTTP/2 needs no further connection";
  }
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
  handler_.release.set(true);
  for (const Promise<Got>& each : watched) EXPECT_EQ(run_on(loops_.loop(1), wait_for(each)).code, 200);
}

// Regression: cancelled requests were retained while an earlier call waited in the queue.
TEST_P(RemoteClientTest, CallsThatAreGivenUpWhileTheyWaitForAConnectionAreLetGoOf) {
  if (GetParam().http2) return;  // HTTP/2 calls do not wait
  constexpr std::size_t kMany = 64;
  config_.max_connections = 1;
  Promise<Got> running, waiting;
  spawn_detached(loops_.loop(1), fetch_into(client(), get("/hold"), running));
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.held)));
  spawn_detached(loops_.loop(1), fetch_into(client(), get("/hello"), waiting));
  std::vector<std::weak_ptr<CallBreaker>> calls;
  for (std::size_t i = 0; i < kMany; ++i) {
    HttpCall call = get("/hello");
    call.breaker = std::make_shared<CallBreaker>();
    const auto breaker = call.breaker;
    calls.push_back(breaker);
    Promise<Got> given_up;
    spawn_detached(loops_.loop(1), fetch_into(client(), std::move(call), given_up));
    breaker->break_off(service_unavailable("given up"));
    EXPECT_EQ(run_on(loops_.loop(1), wait_for(given_up)).status.message(), "given up");
  }
  for (const int i : {0, 1}) run_on(loops_.loop(static_cast<std::size_t>(i)), wait_for_nothing());
  const auto alive = std::count_if(calls.begin(), calls.end(), [](const auto& each) { return !each.expired(); });
  EXPECT_LE(static_cast<std::size_t>(alive), 2u);
  handler_.release.set(true);
  EXPECT_EQ(run_on(loops_.loop(1), wait_for(running)).code, 200);
  EXPECT_EQ(run_on(loops_.loop(1), wait_for(waiting)).code, 200);
}

TEST_P(RemoteClientTest, AnUnreadResponseIsHeldBackAndCanBeCancelled) {
  EXPECT_GT(run_on(loops_.loop(1), read_first_chunk(client(), "/endless")), 0u);
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.closed)));
  EXPECT_LT(handler_.endless_written.load(), std::size_t{16} << 20);
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
}

Task<Result<WholeAnswer>> fetch_whole(std::shared_ptr<HttpClient> client, HttpCall call, AnswerLimit limit) {
  auto calling = client->call_whole(std::move(call), limit);
  auto answer = co_await std::move(calling);
  co_return answer;
}

TEST_P(RemoteClientTest, AWholeAnswerArrivesAtOnce) {
  const auto fetch_it = [this](std::string target, AnswerLimit limit = {}) {
    return run_on(loops_.loop(1), fetch_whole(client(), get(std::move(target)), limit));
  };
  const auto hello = fetch_it("/hello");
  ASSERT_TRUE(hello.ok()) << hello.status().message();
  EXPECT_EQ(hello->code, 200);
  EXPECT_EQ(hello->body, "hello");
  EXPECT_TRUE(hello->complete);
  EXPECT_FALSE(hello->headers.empty());
  const auto large = fetch_it("/large", {400'000});
  EXPECT_EQ(large->body.size(), 400'000u);
  EXPECT_TRUE(large->complete);
  EXPECT_FALSE(fetch_it("/unfinished").ok());
  HttpCall upgrade = get("/hello");
  upgrade.upgrade = true;
  EXPECT_EQ(run_on(loops_.loop(1), fetch_whole(client(), upgrade, {})).status().reason(), Reason::kBadRequest);
}

TEST_P(RemoteClientTest, AWholeAnswerPastItsLimitIsAbandoned) {
  const auto answer = run_on(loops_.loop(1), fetch_whole(client(), get("/endless"), {1'000'000}));
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_FALSE(answer->complete);
  EXPECT_GT(answer->body.size(), 1'000'000u);
  EXPECT_TRUE(run_on(loops_.loop(1), wait(handler_.closed)));
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
}

// Returns the number of requests that clients have made to this host.
double requests_of(const std::string& host, const std::string& code) {
  for (const Metric::Snapshot& each : Metric::all()) {
    const auto found = each.series.find({code, host, "GET"});
    if (each.name == "rest_client_requests_total" && found != each.series.end()) return found->second.value;
  }
  return 0;
}

TEST_P(RemoteClientTest, CallsAreCountedByTheHostThatTheyName) {
  const std::string server = "127.0.0.1:" + std::to_string(server_->port());
  HttpCall named = get("/hello");
  named.headers.emplace_back("Host", "named.test");
  // The metric has labels for 100 hosts. Other tests may have used them up, so these hosts may be counted as "other".
  const auto all = [&] { return requests_of(server, "200") + requests_of("named.test", "200") + requests_of("other", "200"); };
  const double before = all(), of_server = requests_of(server, "200");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fetch_here(get("/hello")).code, 200);
  EXPECT_EQ(fetch_here(named).code, 200);
  EXPECT_TRUE(run_on(loops_.loop(1), fetch_whole(client(), get("/hello"), {})).ok());
  EXPECT_EQ(all() - before, 5);
  if (const double now = requests_of(server, "200"); now > 0) {
    EXPECT_EQ(now - of_server, 4);
  }
}

TEST_P(RemoteClientTest, AConnectionThatTheServerClosesIsReplaced) {
  EXPECT_EQ(fetch_here(get("/close")).body, "hello");
  EXPECT_EQ(fetch_here(get("/close")).body, "hello");
  EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
}

TEST_P(RemoteClientTest, AHalfAnswerIsAnError) {
  const Got got = fetch_here(get("/unfinished"));
  EXPECT_EQ(got.code, 200);
  EXPECT_FALSE(got.status.ok());
}

Task<void> fetch_one(std::shared_ptr<HttpClient> client, std::atomic<int>& good, std::atomic<int>& left, Promise<bool> done) {
  const Got got = co_await fetch(client, get("/large"));
  if (got.body.size() == 400'000) ++good;
  if (--left == 0) done.set(true);
}

TEST_P(RemoteClientTest, ManyCallsShareFewConnections) {
  constexpr int kCalls = 150;
  std::atomic<int> good{0}, left{kCalls};
  Promise<bool> done;
  for (int i = 0; i < kCalls; ++i) spawn_detached(loops_.loop(1), fetch_one(client(), good, left, done));
  run_on(loops_.loop(1), wait(done));
  EXPECT_EQ(good, kCalls);
}

// Regression: a loop without connections forwarded each call to another thread.
TEST_P(RemoteClientTest, EachLoopHasItsOwnConnections) {
  config_.max_connections = 1;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run_on(loops_.loop(0), fetch(client(), get("/hello"))).body, "hello");
    EXPECT_EQ(fetch_here(get("/hello")).body, "hello");
  }
  EXPECT_EQ(server_->counters().accepted, GetParam().own ? 2u : 1u);
}

// A call's deadline does not depend on an earlier call with a later deadline.
TEST_P(RemoteClientTest, TheFirstDeadlineOfSeveralEndsItsCallFirst) {
  HttpCall late = get("/hold"), soon = get("/hold");
  late.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  soon.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  Promise<Got> held;
  spawn_detached(loops_.loop(1), fetch_into(client(), late, held));
  EXPECT_EQ(fetch_here(soon).status.message(), "context deadline exceeded");
  handler_.release.set(true);
  EXPECT_EQ(run_on(loops_.loop(1), wait_for(held)).code, 200);
}

TEST_P(RemoteClientTest, ARefusedConnectionIsReportedSoon) {
  config_.server = "https://127.0.0.1:1";
  EXPECT_EQ(fetch_here(get("/hello")).status.reason(), Reason::kServiceUnavailable);
}

std::string transport_case_name(const testing::TestParamInfo<TransportCase>& info) {
  return std::string(info.param.http2 ? "Http2" : "Http1") + (info.param.own ? "OfEachLoop" : "");
}
// Regression: a call that arrived when its connection had just failed to open got "the server is stopping".
TEST_P(RemoteClientTest, AConnectionRefusedAtOnceIsReportedAsSuch) {
  config_.dial = [](std::string address) -> Task<Result<int>> { co_return service_unavailable("no way to " + address); };
  const Status why = fetch_here(get("/")).status;
  EXPECT_EQ(why.message().find("the server is stopping"), std::string::npos) << why.message();
  EXPECT_NE(why.message().find("no way to 127.0.0.1:"), std::string::npos) << why.message();
}

INSTANTIATE_TEST_SUITE_P(Protocols, RemoteClientTest,
                         testing::Values(TransportCase{false, false}, TransportCase{true, false}, TransportCase{false, true},
                                         TransportCase{true, true}),
                         transport_case_name);

TEST_P(RemoteClientTest, AHandshakeWithASilentServerTimesOut) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor mute(io, {boost::asio::ip::address_v4::loopback(), 0});
  config_.server = "https://127.0.0.1:" + std::to_string(mute.local_endpoint().port());
  config_.connect_timeout = std::chrono::seconds(1);
  EXPECT_EQ(fetch_here(get("/hello")).status.message(), "net/http: TLS handshake timeout");
}

TEST(RemoteClientConfig, WhatCannotBeUsedIsRefused) {
  IoLoop loop("test");
  LoggedTaskGroup tasks;
  for (const char* server : {"ftp://a:1", "a:1", "https://", "https://:443", "http://"}) {
    ClientConfig config;
    config.server = server;
    EXPECT_EQ(make_remote_client(loop, tasks, config).status().reason(), Reason::kBadRequest) << server;
  }
  ClientConfig config;
  config.server = "https://a";
  config.certificate_authority = "no PEM";
  EXPECT_EQ(make_remote_client(loop, tasks, config).status().reason(), Reason::kBadRequest);
}

}  // namespace
}  // namespace backplane
