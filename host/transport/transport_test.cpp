#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include <filesystem>
#include <future>

#include "transport/acceptor.hpp"
#include "transport/secure_server.hpp"
#include "transport/tls_memory.hpp"
#include "transport/tls_test_client.hpp"
#include "transport/unix_server.hpp"

namespace backplane {
namespace {

using test::H2Connection;
using test::TestHandler;
using test::TlsClient;

// Called before the first use of OpenSSL, as in the server, for all tests of this program.
const bool keeps_buffers = keep_tls_buffers();

// Blocks the thread of the test, not an executor.
bool wait_for(const Promise<bool>& signal, IoLoop& loop) {
  struct Wait {
    static Task<bool> on(Promise<bool> what) {
      const bool value = co_await what.future();
      co_return value;
    }
  };
  return run_on(loop, Wait::on(signal));
}

class Transport : public testing::Test {
 protected:
  Transport() : loops_(2) {
    std::string pattern = testing::TempDir() + "backplane-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    loops_.start();
    ca_ = *issue_certificate({.use = CertificateUse::kAuthority, .common_name = "ca"}, nullptr);
    options_.port = 0;
    options_.certificate = write_pair("default", *issue_certificate({.common_name = "default", .ip_addresses = {"127.0.0.1"}}, &ca_));
  }
  ~Transport() override {
    handler_.release.set(true);
    if (server_) {
      server_->stop_listening();
      server_->force_close();
      EXPECT_TRUE(closed_within(*server_, std::chrono::seconds(20)));
      server_.reset();
    }
    loops_.stop();
    std::filesystem::remove_all(folder_);
  }

  KeyPairFiles write_pair(const std::string& name, const KeyPair& pair) {
    const KeyPairFiles files{folder_ + "/" + name + ".crt", folder_ + "/" + name + ".key"};
    EXPECT_TRUE(write_file_atomically(files.key, pair.key_pem, 0600).ok());
    EXPECT_TRUE(write_file_atomically(files.certificate, pair.certificate_pem, 0600).ok());
    return files;
  }
  void trust_clients(const KeyPair& authority) {
    options_.client_ca_file = folder_ + "/client-ca.crt";
    ASSERT_TRUE(write_file_atomically(options_.client_ca_file, authority.certificate_pem, 0600).ok());
  }
  void start() {
    server_ = std::make_unique<SecureServer>(options_, loops_, handler_);
    const Status status = server_->start();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_NE(server_->port(), 0);
  }
  std::uint16_t port() const { return server_->port(); }
  template <class Server>
  bool closed_within(Server& server, std::chrono::seconds timeout) {
    return run_on(loops_.loop(1), server.wait_closed(std::chrono::steady_clock::now() + timeout));
  }

  IoLoop client_loop_{"client"};  // the server's loops notify this loop until they stop
  LoopPool loops_;
  TestHandler handler_;
  std::string folder_;
  KeyPair ca_;
  ServingOptions options_;
  std::unique_ptr<SecureServer> server_;
};

TEST_F(Transport, ServesHttp1AndHttp2ByAlpn) {
  start();
  TlsClient http1(port(), {.alpn = "http/1.1"});
  ASSERT_TRUE(http1.connected());
  EXPECT_EQ(http1.protocol(), "http/1.1");
  EXPECT_TRUE(http1.get("/hello", "hello").starts_with("HTTP/1.1 200 OK"));
  TlsClient none(port());
  EXPECT_TRUE(none.get("/hello", "hello").starts_with("HTTP/1.1 200 OK"));
  H2Connection http2(port());
  ASSERT_TRUE(http2.tls.connected());
  EXPECT_EQ(http2.tls.protocol(), "h2");
  EXPECT_EQ(http2.get("/hello").body, "hello");
}

// A plugin's handler may continue on another executor.
TEST_F(Transport, AHandlerThatIsOnAnotherExecutorIsAnsweredForOnTheConnectionsOwn) {
  IoLoop foreign("foreign");
  foreign.start();
  handler_.foreign = &foreign;
  start();
  {
    TlsClient http1(port());
    ASSERT_TRUE(http1.connected());
    for (int i = 0; i < 5; ++i) {
      http1.write("POST /other-executor HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nthere");
      EXPECT_NE(http1.read_until("\r\n\r\nthere").find("X-Test: yes\r\n"), std::string::npos);
    }
    http1.write("GET /other-executor/stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string streamed = http1.read_to_end();
    EXPECT_EQ(std::count(streamed.begin() + static_cast<std::ptrdiff_t>(streamed.find("\r\n\r\n")), streamed.end(), 's'), 300'000);
    EXPECT_TRUE(streamed.ends_with("\r\n0\r\n\r\n"));
    H2Connection http2(port());
    ASSERT_TRUE(http2.tls.connected());
    std::vector<std::int32_t> ids;
    for (const char* path : {"/other-executor/stream", "/stream", "/other-executor", "/other-executor/stream"})
      ids.push_back(http2.client.request("GET", path));
    http2.until([&] { return std::all_of(ids.begin(), ids.end(), [&](auto id) { return http2.client.responses[id].closed; }); });
    EXPECT_EQ(http2.client.responses[ids[0]].body.size(), 300'000u);
    EXPECT_EQ(http2.client.responses[ids[3]].body.size(), 300'000u);
    for (const auto id : ids) EXPECT_EQ(http2.client.responses[id].error, 0u);
  }
  server_->stop_listening();
  EXPECT_TRUE(closed_within(*server_, std::chrono::seconds(20)));
  server_.reset();
  foreign.stop();
  EXPECT_EQ(handler_.wrong_executor_calls, 0);
}

TEST_F(Transport, Http2CanBeSwitchedOff) {
  options_.disable_http2 = true;
  start();
  TlsClient client(port(), {.alpn = "h2"});
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.protocol(), "");
  EXPECT_TRUE(client.get("/hello", "hello").starts_with("HTTP/1.1 200 OK"));
}

TEST_F(Transport, PlainHttpOnTheTlsPortGetsAMessage) {
  start();
  const auto fd = test::connect_tcp(port());
  const std::string request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_EQ(::send(fd.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer(1000, '\0');
  std::size_t size = 0;
  for (ssize_t got = 0; (got = ::recv(fd.get(), answer.data() + size, answer.size() - size, 0)) > 0;) size += static_cast<std::size_t>(got);
  answer.resize(size);
  EXPECT_EQ(answer, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

TEST_F(Transport, VersionsBelowTheMinimumAreRefusedAndCounted) {
  options_.min_tls_version = "VersionTLS13";
  start();
  EXPECT_FALSE(TlsClient(port(), {.max_version = TLS1_2_VERSION}).connected());
  EXPECT_TRUE(TlsClient(port()).connected());
  EXPECT_EQ(server_->counters().tls_handshake_errors, 1u);
}

TEST_F(Transport, OldVersionsAreOfferedOnRequest) {
  const test::TlsClientOptions old{.max_version = TLS1_VERSION, .ciphers = "DEFAULT:@SECLEVEL=0"};
  options_.min_tls_version = "VersionTLS10";
  start();
  EXPECT_TRUE(TlsClient(port(), old).connected());
  EXPECT_TRUE(TlsClient(port()).connected());
}

TEST_F(Transport, OldVersionsAreNotOfferedOtherwise) {
  start();
  EXPECT_FALSE(TlsClient(port(), {.max_version = TLS1_1_VERSION, .ciphers = "DEFAULT:@SECLEVEL=0"}).connected());
}

TEST_F(Transport, AListeningSocketThatFailsEndsTheProcess) {
  EXPECT_EXIT(
      {
        IoLoop loop("listening");
        loop.start();
        FileDescriptor none(::eventfd(1, EFD_NONBLOCK));  // readable, but not a socket
        const auto acceptor = std::make_shared<Acceptor>(loop, std::move(none), [](AcceptedSocket) {});
        acceptor->start();
        std::promise<void>().get_future().wait_for(std::chrono::seconds(60));
      },
      testing::KilledBySignal(SIGABRT), "");
}

TEST_F(Transport, OnlyTheGivenCipherSuitesAreTaken) {
  options_.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
  start();
  EXPECT_FALSE(TlsClient(port(), {.max_version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"}).connected());
  EXPECT_TRUE(TlsClient(port(), {.max_version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"}).connected());
}

TEST_F(Transport, LargeResponsesArriveWholeOnBothVersions) {
  handler_.large_size = 5'000'000;
  start();
  TlsClient http1(port());
  http1.write("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string sent = http1.read_to_end();
  EXPECT_EQ(sent.size() - sent.find("\r\n\r\n") - 4, 5'000'000u);
  H2Connection http2(port());
  EXPECT_EQ(http2.get("/large").body.size(), 5'000'000u);
}

TEST_F(Transport, LargeUploadsArriveWholeOnBothVersions) {
  handler_.max_body = 3 << 20;
  start();
  const std::string body(3 << 20, 'u');
  TlsClient http1(port());
  http1.write("POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  http1.write(body);
  EXPECT_TRUE(http1.read_to_end().ends_with("\r\n\r\n" + body));
  H2Connection http2(port());
  const auto id = http2.client.request("POST", "/echo", {}, body);
  http2.until([&] { return http2.client.responses[id].closed; });
  EXPECT_TRUE(http2.client.responses[id].body == body);
}

TEST_F(Transport, ASlowReaderDelaysOnlyItself) {
  start();
  TlsClient slow(port(), {.receive_buffer = 4096});
  slow.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_FALSE(slow.read().empty());
  // Both loops still serve requests.
  for (int i = 0; i < 4; ++i) EXPECT_EQ(H2Connection(port()).get("/hello").body, "hello");
  // The handler of the slow connection ends when the connection closes.
  ::shutdown(slow.fd(), SHUT_RDWR);
  wait_for(handler_.closed, loops_.loop(0));
}

TEST_F(Transport, APeerThatNeverReadsIsCut) {
  options_.limits.write_timeout = std::chrono::milliseconds(50);
  start();
  TlsClient slow(port(), {.receive_buffer = 4096});
  slow.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  wait_for(handler_.closed, loops_.loop(0));
  EXPECT_EQ(handler_.closes, 1);
}

// Regression: a client that had stopped reading its list delayed the stop by a minute.
TEST_F(Transport, AStopDoesNotWaitForAPeerThatNeverReads) {
  options_.limits.last_write_timeout = std::chrono::milliseconds(50);
  start();
  TlsClient slow(port(), {.receive_buffer = 4096});
  slow.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_FALSE(slow.read().empty());
  H2Connection stream(port(), true);
  const auto id = stream.client.request("GET", "/endless");
  ASSERT_TRUE(stream.until([&] { return !stream.client.responses[id].body.empty(); }));
  server_->stop_listening();
  server_->shorten_write_timeouts();
  server_->begin_drain();
  EXPECT_TRUE(closed_within(*server_, std::chrono::seconds(20)));
  EXPECT_EQ(handler_.closes, 2);
}

// Regression: there was no limit for the output of TLS itself, such as responses to key updates.
TEST_F(Transport, APeerThatAsksForKeysAndNeverReadsTheAnswersIsCut) {
  start();
  TlsClient client(server_->port(), {.receive_buffer = 4096});
  ASSERT_TRUE(client.connected());
  int asked = 0;
  while (asked < 1'000'000 && SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(client.ssl()) == 1) ++asked;
  ERR_clear_error();
  EXPECT_LT(asked, 1'000'000);
  EXPECT_GT(asked, 1000);
}

TEST_F(Transport, SilentClientsAreCutAfterTheHandshakeTimeout) {
  options_.handshake_timeout = std::chrono::milliseconds(50);
  start();
  const auto fd = test::connect_tcp(port());
  char byte = 0;
  EXPECT_EQ(::recv(fd.get(), &byte, 1, 0), 0);
}

TEST_F(Transport, AResetInMidStreamEndsTheHandlerAndNothingElse) {
  start();
  H2Connection http2(port(), true);
  const auto id = http2.client.request("GET", "/endless");
  ASSERT_TRUE(http2.until([&] { return !http2.client.responses[id].body.empty(); }));
  http2.client.reset(id);
  http2.tls.write(http2.client.output());
  wait_for(handler_.closed, loops_.loop(0));
  EXPECT_EQ(handler_.closes, 1);
}

TEST_F(Transport, DrainFinishesWhatRunsAndClosesWhatIsIdle) {
  start();
  TlsClient idle(port());
  idle.get("/hello", "hello");
  H2Connection busy(port());
  const auto held = busy.client.request("GET", "/hold");
  busy.tls.write(busy.client.output());
  wait_for(handler_.held, loops_.loop(0));
  std::promise<void> stopped;
  server_->stop_listening([&] { stopped.set_value(); });
  stopped.get_future().wait();
  EXPECT_FALSE(test::connect_tcp(port()).valid());
  server_->begin_drain();
  EXPECT_EQ(idle.read(), "");
  ASSERT_TRUE(busy.until([&] { return busy.client.goaways.size() == 2; }));
  EXPECT_EQ(busy.client.goaways.back(), held);
  handler_.release.set(true);
  ASSERT_TRUE(busy.until([&] { return busy.client.responses[held].closed; }));
  EXPECT_EQ(busy.client.responses[held].body, "released");
  EXPECT_EQ(busy.tls.read_to_end(), "");
  ::shutdown(busy.tls.fd(), SHUT_RDWR);
  ::shutdown(idle.fd(), SHUT_RDWR);
  EXPECT_TRUE(closed_within(*server_, std::chrono::seconds(20)));
  EXPECT_EQ(server_->active_connections(), 0u);
}

TEST_F(Transport, WaitClosedReturnsAtItsDeadlineAndForceCloseEndsTheRest) {
  start();
  TlsClient client(port());
  client.write("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  wait_for(handler_.held, loops_.loop(0));
  server_->stop_listening();
  server_->begin_drain();
  EXPECT_FALSE(closed_within(*server_, std::chrono::seconds(0)));
  server_->force_close();
  wait_for(handler_.closed, loops_.loop(0));
  EXPECT_EQ(client.read(), "");
  handler_.release.set(true);
  EXPECT_TRUE(closed_within(*server_, std::chrono::seconds(20)));
}

TEST_F(Transport, ChangedCertificatesServeNewConnectionsAndOldOnesGoOn) {
  options_.reload_interval = std::chrono::hours(1);
  start();
  TlsClient before(port());
  EXPECT_EQ(before.server_common_name(), "default");
  EXPECT_FALSE(server_->reload_certificates());
  write_pair("default", *issue_certificate({.common_name = "renewed"}, &ca_));
  EXPECT_TRUE(server_->reload_certificates());
  EXPECT_EQ(TlsClient(port()).server_common_name(), "renewed");
  EXPECT_TRUE(before.get("/hello", "hello").starts_with("HTTP/1.1 200 OK"));
  // A pair of which only one file is written has no effect.
  ASSERT_TRUE(write_file_atomically(options_.certificate.certificate, "nonsense", 0600).ok());
  EXPECT_FALSE(server_->reload_certificates());
  EXPECT_EQ(TlsClient(port()).server_common_name(), "renewed");
}

TEST_F(Transport, FilesAreWatched) {
  options_.reload_interval = std::chrono::milliseconds(10);
  start();
  write_pair("default", *issue_certificate({.common_name = "renewed"}, &ca_));
  std::string seen;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (seen != "renewed" && std::chrono::steady_clock::now() < until) seen = TlsClient(port()).server_common_name();
  EXPECT_EQ(seen, "renewed");
}

TEST_F(Transport, TheServerNameChoosesExactBeforeWildcardAndExplicitBeforeExtracted) {
  const auto pair = [&](const std::string& name, std::vector<std::string> dns) {
    return write_pair(name, *issue_certificate({.common_name = name, .dns_names = std::move(dns)}, &ca_));
  };
  options_.sni_certificates.push_back({.files = pair("extracted", {"a.example.com", "only.example.com"}), .names = {}});
  options_.sni_certificates.push_back({.files = pair("wildcard", {"unused"}), .names = {"*.example.com"}});
  options_.sni_certificates.push_back({.files = pair("exact", {"unused"}), .names = {"A.example.com"}});
  options_.sni_certificates.push_back({.files = pair("second", {"unused"}), .names = {"a.example.com"}});
  start();
  const auto served = [&](const std::string& name) { return TlsClient(port(), {.server_name = name}).server_common_name(); };
  EXPECT_EQ(served("a.example.com"), "exact");
  EXPECT_EQ(served("only.example.com"), "extracted");
  EXPECT_EQ(served("b.example.com"), "wildcard");
  EXPECT_EQ(served("a.b.example.com"), "default");
  EXPECT_EQ(served("elsewhere.org"), "default");
  EXPECT_EQ(served(""), "default");
}

TEST_F(Transport, ACertificateMayLiveInMemoryAlone) {
  const auto made = issue_certificate({.common_name = "memory"}, &ca_);
  ASSERT_TRUE(made.ok());
  options_.sni_certificates.push_back(
      {.files = {}, .names = {"inside"}, .certificate_pem = made->certificate_pem + ca_.certificate_pem, .key_pem = made->key_pem});
  EXPECT_TRUE(validate(options_).empty());
  start();
  EXPECT_EQ(TlsClient(port(), {.server_name = "inside"}).server_common_name(), "memory");
  EXPECT_EQ(TlsClient(port()).server_common_name(), "default");
}

TEST_F(Transport, WithoutAServerNameTheAddressReachedChooses) {
  options_.sni_certificates.push_back({.files = write_pair("ip", *issue_certificate({.common_name = "ip"}, &ca_)), .names = {"127.0.0.1"}});
  start();
  EXPECT_EQ(TlsClient(port()).server_common_name(), "ip");
  EXPECT_EQ(TlsClient(port(), {.server_name = "localhost"}).server_common_name(), "default");
}

TEST_F(Transport, ClientCertificatesAreShownWhenTheyVerifyAndMarkedWhenTheyDoNot) {
  trust_clients(ca_);
  start();
  const CertificateSpec admin{.use = CertificateUse::kClient, .common_name = "admin", .organizations = {"system:masters", "second"}};
  const auto good = issue_certificate(admin, &ca_);
  const auto other_ca = issue_certificate({.use = CertificateUse::kAuthority, .common_name = "other"}, nullptr);
  const auto untrusted = issue_certificate(admin, &*other_ca);
  auto past = admin;
  past.lifetime = std::chrono::hours(0);
  const auto expired = issue_certificate(past, &ca_);
  const auto server_use = issue_certificate({.use = CertificateUse::kServer, .common_name = "admin"}, &ca_);
  ASSERT_TRUE(good.ok() && untrusted.ok() && expired.ok() && server_use.ok());
  const auto seen = [&](const KeyPair* pair) {
    TlsClient client(port(), {.certificate = pair});
    client.write("GET /cert HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string sent = client.read_to_end();
    return sent.substr(sent.find("\r\n\r\n") + 4);
  };
  EXPECT_EQ(seen(&*good), "admin/system:masters/second");
  EXPECT_EQ(seen(nullptr), "none");
  EXPECT_EQ(seen(&*untrusted), "rejected");
  EXPECT_EQ(seen(&*expired), "rejected");
  EXPECT_EQ(seen(&*server_use), "rejected");
}

TEST_F(Transport, AResumedSessionHasTheSameClient) {
  trust_clients(ca_);
  start();
  const CertificateSpec admin{.use = CertificateUse::kClient, .common_name = "admin"};
  const auto other_ca = issue_certificate({.use = CertificateUse::kAuthority, .common_name = "other"}, nullptr);
  const auto good = issue_certificate(admin, &ca_);
  const auto untrusted = issue_certificate(admin, &*other_ca);
  for (const auto& [pair, expected] : {std::pair(&*good, "admin"), std::pair(&*untrusted, "rejected")}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      TlsClient first(port(), {.certificate = pair, .max_version = version});
      EXPECT_TRUE(first.get("/cert", expected).ends_with(expected));
      SSL_SESSION* session = SSL_get1_session(first.ssl());
      TlsClient second(port(), {.max_version = version, .session = session});
      EXPECT_EQ(SSL_session_reused(second.ssl()), 1);
      EXPECT_TRUE(second.get("/cert", expected).ends_with(expected));
      SSL_SESSION_free(session);
    }
  }
}

TEST_F(Transport, AChangedClientAuthorityIsUsedForNewConnections) {
  const auto other_ca = issue_certificate({.use = CertificateUse::kAuthority, .common_name = "other"}, nullptr);
  const auto client = issue_certificate({.use = CertificateUse::kClient, .common_name = "late"}, &*other_ca);
  trust_clients(ca_);
  start();
  EXPECT_TRUE(TlsClient(port(), {.certificate = &*client}).get("/cert", "rejected").ends_with("rejected"));
  trust_clients(*other_ca);
  EXPECT_TRUE(server_->reload_certificates());
  EXPECT_TRUE(TlsClient(port(), {.certificate = &*client}).get("/cert", "late").ends_with("late"));
}

TEST_F(Transport, AnOpenConnectionIsJudgedByTheAuthoritiesOfTheDay) {
  const auto other_ca = issue_certificate({.use = CertificateUse::kAuthority, .common_name = "other"}, nullptr);
  const CertificateSpec spec{.use = CertificateUse::kClient, .common_name = "admin"};
  const auto old_client = issue_certificate(spec, &ca_);
  const auto new_client = issue_certificate(spec, &*other_ca);
  trust_clients(ca_);
  start();
  TlsClient first(port(), {.certificate = &*old_client});
  TlsClient second(port(), {.certificate = &*new_client});
  EXPECT_TRUE(first.get("/cert", "admin").ends_with("admin"));
  EXPECT_TRUE(second.get("/cert", "rejected").ends_with("rejected"));
  trust_clients(*other_ca);
  EXPECT_TRUE(server_->reload_certificates());
  EXPECT_TRUE(first.get("/cert", "rejected").ends_with("rejected"));
  EXPECT_TRUE(second.get("/cert", "admin").ends_with("admin"));
}

TEST_F(Transport, AnInvalidFileDoesNotDelayOthers) {
  trust_clients(ca_);
  start();
  ASSERT_TRUE(write_file_atomically(options_.client_ca_file, "no certificate at all", 0600).ok());
  EXPECT_FALSE(server_->reload_certificates());
  const auto fresh = issue_certificate({.use = CertificateUse::kServer, .common_name = "fresh", .dns_names = {"fresh.example"}}, &ca_);
  write_pair("default", *fresh);
  EXPECT_TRUE(server_->reload_certificates());
  TlsClient client(port());
  const X509Ptr shown(SSL_get1_peer_certificate(client.ssl()));
  EXPECT_EQ(certificate_names(shown.get()), std::vector<std::string>{"fresh.example"});
  const auto admin = issue_certificate({.use = CertificateUse::kClient, .common_name = "admin"}, &ca_);
  EXPECT_TRUE(TlsClient(port(), {.certificate = &*admin}).get("/cert", "admin").ends_with("admin")) << "the old authority is still trusted";
}

TEST_F(Transport, ConnectionsPastTheBoundAreClosed) {
  options_.max_connections = 1;
  start();
  TlsClient first(port());
  ASSERT_TRUE(first.connected());
  EXPECT_FALSE(TlsClient(port()).connected());
  EXPECT_EQ(server_->counters().refused, 1u);
  EXPECT_TRUE(first.get("/hello", "hello").starts_with("HTTP/1.1 200 OK"));
}

TEST_F(Transport, APortInUseIsAnErrorUnlessShared) {
  start();
  ServingOptions second = options_;
  second.port = port();
  SecureServer refused(second, loops_, handler_);
  const Status status = refused.start();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("failed to listen on 127.0.0.1:" + std::to_string(port())), std::string::npos);
}

TEST_F(Transport, TwoServersShareAPortWhenBothSaySo) {
  options_.reuse_port = true;
  start();
  ServingOptions second = options_;
  second.port = port();
  SecureServer shared(second, loops_, handler_);
  EXPECT_TRUE(shared.start().ok());
  shared.stop_listening();
  shared.force_close();
  EXPECT_TRUE(closed_within(shared, std::chrono::seconds(20)));
}

TEST_F(Transport, MissingCertificatesStopTheStartWithTheFilesName) {
  options_.certificate.certificate = folder_ + "/absent.crt";
  SecureServer server(options_, loops_, handler_);
  const Status status = server.start();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("absent.crt"), std::string::npos);
}

// Errors that concern one socket: an invalid descriptor, memory, TLS.
TEST_F(Transport, ASocketThatCannotBeTakenIsClosedAndTheNextOneIsServed) {
  const std::string path = folder_ + "/some.sock";
  HttpServer server(loops_, handler_, ConnectionOptions{.plain = true, .http2 = false}, {}, 10);
  std::atomic<int> count{0};
  auto listening = listen_unix(path);
  ASSERT_TRUE(listening.ok());
  server.listen(std::move(*listening), [&count](AcceptedSocket& socket) {
    const int number = ++count;
    if (number == 1) throw std::runtime_error("thrown on purpose");
    if (number == 2) socket.fd.reset();
  });
  std::string answer;
  for (int i = 0; i < 3; ++i) {
    FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string request = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    (void)::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    answer.clear();
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, static_cast<std::size_t>(got));
    EXPECT_EQ(answer.empty(), i < 2);
  }
  EXPECT_TRUE(answer.ends_with("hello"));
  server.stop_listening();
  server.begin_drain();
  EXPECT_TRUE(closed_within(server, std::chrono::seconds(20)));
}

TEST_F(Transport, AUnixSocketServesPlainHttpToThisUserOnly) {
  const std::string path = folder_ + "/debug.sock";
  UnixServer server(path, loops_, handler_);
  ASSERT_TRUE(server.start().ok());
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  ASSERT_EQ(::send(fd.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, static_cast<std::size_t>(got));
  EXPECT_TRUE(answer.ends_with("hello"));
  UnixServer second(path, loops_, handler_);
  EXPECT_FALSE(second.start().ok());
  fd.reset();
  server.stop_listening();
  server.begin_drain();
  EXPECT_TRUE(closed_within(server, std::chrono::seconds(20)));
  EXPECT_FALSE(std::filesystem::exists(path));
}

// An executor cannot interrupt a handler that blocks it.
TEST_F(Transport, WorkThatKeepsItsExecutorCanSeeThatTheClientHasGone) {
  client_loop_.start();
  start();
  for (const std::string protocol : {"http/1.1", "h2"}) {
    handler_.held = Promise<bool>();
    handler_.found_gone = Promise<bool>();
    if (protocol == "h2") {
      H2Connection client(port());
      client.client.request("GET", "/busy");
      client.tls.write(client.client.output());
      EXPECT_TRUE(wait_for(handler_.held, client_loop_));
    } else {
      TlsClient client(port(), {.alpn = protocol});
      // The client sends another request before it disconnects. Its bytes must not hide the end of the connection.
      client.write("GET /busy HTTP/1.1\r\nHost: test\r\n\r\n");
      EXPECT_TRUE(wait_for(handler_.held, client_loop_));
      client.write("GET /hello HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    EXPECT_TRUE(wait_for(handler_.found_gone, client_loop_)) << protocol;
  }
}

TEST(TlsMemory, ARecordsBufferIsTheNextOnesAndOnlyAFewAreKept) {
  ASSERT_TRUE(keeps_buffers);
  constexpr std::size_t kReadBuffer = 16'712, kWriteBuffer = 16'584;
  std::vector<void*> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(OPENSSL_malloc(kReadBuffer));
  for (void* buffer : buffers) OPENSSL_free(buffer);
  const std::size_t kept = kept_tls_buffers_for_test();
  EXPECT_EQ(kept, 4U);
  void* again = OPENSSL_malloc(kWriteBuffer);
  EXPECT_EQ(again, buffers[3]);
  EXPECT_EQ(kept_tls_buffers_for_test(), kept - 1);
  OPENSSL_free(again);
}

TEST(TlsMemory, WhatIsNoRecordsBufferIsNotKept) {
  while (kept_tls_buffers_for_test() > 0) {
    void* taken = OPENSSL_malloc(17 << 10);
    ASSERT_NE(taken, nullptr);
    OPENSSL_free(OPENSSL_realloc(taken, 100'000));  // the size has changed
  }
  for (const std::size_t size : {std::size_t(1), std::size_t(4'096), std::size_t(100'000)}) OPENSSL_free(OPENSSL_malloc(size));
  EXPECT_EQ(kept_tls_buffers_for_test(), 0U);
  OPENSSL_free(nullptr);
}

}  // namespace
}  // namespace backplane
