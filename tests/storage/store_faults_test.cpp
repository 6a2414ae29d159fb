// Causes faults of the stores and of their connections while clients read, write and watch.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "../support/skip.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "calls.hpp"
#include "etcd_process.hpp"
#include "etcd_storage.hpp"
#include "fault_conformance.hpp"
#include "rocksdb_storage.hpp"
#include "storage/memory_storage.hpp"
#include "store_connections.hpp"
#include "tcp_proxy.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

void pause_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

etcd::Settings settings_for(const std::vector<std::string>& urls) {
  etcd::Settings settings;
  for (const auto& url : urls) settings.endpoints.push_back(etcd::parse_endpoint(url).value());
  settings.prefix = "/registry";
  settings.stored_form = "json";
  return settings;
}

// ---- stores in the process: their only fault is a compacted history

Status compact_now(StorageBackend& store, IoLoop& loop) {
  const auto newest = run_on(loop, store.current_revision());
  if (!newest.ok()) return newest.status();
  return run_on(loop, store.compact(*newest));
}

void compact_often(StorageBackend& store, std::chrono::milliseconds time) {
  IoLoop loop("compaction");
  loop.start();
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end; pause_for(20ms)) {
    const Status compacted = compact_now(store, loop);
    EXPECT_TRUE(compacted.ok()) << compacted.message();
  }
  loop.stop();
}

class CompactedStore final : public FaultyStore {
 public:
  explicit CompactedStore(std::function<std::unique_ptr<StorageBackend>(const std::string& directory)> open)
      : store_(open(directory_.path())) {}
  StorageBackend& store() override { return *store_; }
  void fail() override { compact_often(*store_, 1s); }

 private:
  ScratchDirectory directory_;
  std::unique_ptr<StorageBackend> store_;
};

std::unique_ptr<FaultyStore> compacted_memory() {
  return std::make_unique<CompactedStore>([](const std::string&) { return make_memory_storage(); });
}

std::unique_ptr<FaultyStore> compacted_rocksdb() {
  return std::make_unique<CompactedStore>([](const std::string& directory) {
    StorageBackendConfig config;
    config.data_dir = directory;
    return open_rocksdb_storage(config).value();
  });
}

// ---- etcd behind a proxy

class FaultyEtcd final : public FaultyStore {
 public:
  using Fault = std::function<void(FaultyEtcd&)>;
  explicit FaultyEtcd(Fault fault) : fault_(std::move(fault)) {
    EtcdProcess::Setup setup;
    setup.flags = {"--grpc-keepalive-min-time=100ms"};
    server = std::make_unique<EtcdProcess>(directory_.path(), setup);
    proxy = std::make_unique<TcpProxy>(server->port());
    auto settings = settings_for({proxy->url()});
    settings.keep_alive = settings.keep_alive_timeout = 1s;
    auto opened = open_etcd_storage(std::move(settings), kConnectionsOfTests);
    store_ = std::move(*opened);
  }
  StorageBackend& store() override { return *store_; }
  void fail() override { fault_(*this); }
  // Compacts the history as another server would.
  void compact_by_other_client() {
    IoLoop loop("elsewhere");
    loop.start();
    auto opened = open_etcd_storage(settings_for({server->url()}), kConnectionsOfTests);
    const auto other = std::move(*opened);
    const Status compacted = compact_now(*other, loop);
    EXPECT_TRUE(compacted.ok()) << compacted.message();
    EXPECT_TRUE(run_on(loop, other->stop()).ok());
    loop.stop();
  }

 private:
  ScratchDirectory directory_;

 public:
  std::unique_ptr<EtcdProcess> server;
  std::unique_ptr<TcpProxy> proxy;

 private:
  const Fault fault_;
  std::unique_ptr<StorageBackend> store_;
};

void stopped(FaultyEtcd& etcd) {
  etcd.server->pause();
  pause_for(5s);
  etcd.server->go_on();
}
void killed(FaultyEtcd& etcd) {
  etcd.server->kill();
  pause_for(1s);
  etcd.server->start();
}
void slow(FaultyEtcd& etcd) {
  etcd.proxy->slow(30ms);
  pause_for(2s);
  etcd.proxy->slow(0ms);
}
void held(FaultyEtcd& etcd, bool to_server, bool to_client) {
  etcd.proxy->hold(to_server, to_client);
  pause_for(4s);
  etcd.proxy->hold(false, false);
}
// Compacts the revisions after the watch's revision while the watch receives nothing.
void compacted(FaultyEtcd& etcd) {
  for (int i = 0; i < 5; ++i) {
    etcd.proxy->hold(false, true);
    pause_for(100ms);
    etcd.compact_by_other_client();
    etcd.proxy->cut(false);
    etcd.proxy->hold(false, false);
    pause_for(200ms);
    etcd.compact_by_other_client();
  }
}
void cut(FaultyEtcd& etcd) {
  etcd.proxy->cut(true);
  pause_for(2s);
  etcd.proxy->cut(false);
}

FaultCase etcd_case(std::string name, FaultyEtcd::Fault fault) {
  return {std::move(name), [fault = std::move(fault)]() -> std::unique_ptr<FaultyStore> { return std::make_unique<FaultyEtcd>(fault); }};
}

std::vector<FaultCase> etcd_cases() {
  if (!EtcdProcess::installed()) return {};
  return {etcd_case("StoppedForFiveSeconds", stopped),
          etcd_case("KilledAndRestarted", killed),
          etcd_case("Slow", slow),
          etcd_case("CompactedUnderTheWatch", compacted),
          etcd_case("PartitionedBothWays", [](FaultyEtcd& etcd) { held(etcd, true, true); }),
          etcd_case("DeafServer", [](FaultyEtcd& etcd) { held(etcd, true, false); }),
          etcd_case("MuteServer", [](FaultyEtcd& etcd) { held(etcd, false, true); }),
          etcd_case("HalfOpenConnections", [](FaultyEtcd& etcd) { etcd.proxy->silence(); }),
          etcd_case("Unreachable", cut)};
}

INSTANTIATE_TEST_SUITE_P(Memory, FaultConformance, testing::Values(FaultCase{"Compacted", compacted_memory}), fault_name);
INSTANTIATE_TEST_SUITE_P(Rocksdb, FaultConformance, testing::Values(FaultCase{"Compacted", compacted_rocksdb}), fault_name);
INSTANTIATE_TEST_SUITE_P(Etcd, FaultConformance, testing::ValuesIn(etcd_cases()), fault_name);

class EtcdServers : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdProcess::installed()) BACKPLANE_SKIP_WITHOUT("etcd", "this machine has no etcd (package etcd-server)");
  }
  BackendMaker over(std::vector<std::string> urls) {
    return {"Etcd", [urls = std::move(urls)](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
              return open_etcd_storage(settings_for(urls), kConnectionsOfTests);
            }};
  }
  template <class What>
  static void wait_until(What what) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!what() && std::chrono::steady_clock::now() < limit) pause_for(20ms);
    EXPECT_TRUE(what());
  }
  ScratchDirectory directory_;
};

TEST_F(EtcdServers, WritesAndWatchesGoOnWhenTheLeaderIsKilled) {
  auto members = start_etcd_cluster(directory_.path(), 3);
  std::vector<std::string> urls;
  for (const auto& member : members) urls.push_back(member->url());
  // The requests go to the leader.
  EtcdProcess& leader = leader_of(members);
  std::stable_partition(urls.begin(), urls.end(), [&](const std::string& url) { return url == leader.url(); });
  OpenStore store(over(urls));
  store.put("/registry/k/0", "v");
  auto opened = store->watch("/registry/k/", 1);
  ASSERT_TRUE(opened.ok());
  const std::string first = store.next(**opened, 1);
  EXPECT_EQ(first, "+/registry/k/0=v");
  leader.kill();
  // A read is retried until a leader exists; so is a write that has certainly not happened. If the election takes long, both may time out,
  // and the client retries.
  auto revision = store.run(store->current_revision());
  for (int again = 0; again < 2 && !revision.ok(); ++again) revision = store.run(store->current_revision());
  ASSERT_TRUE(revision.ok()) << revision.status().message();
  TxnRequest request;
  request.puts.push_back({"/registry/k/1", SharedBytes(std::string("v")), 0});
  auto written = store.run(store->txn(request));
  for (int again = 0; again < 2 && !written.ok(); ++again) written = store.run(store->txn(request));
  ASSERT_TRUE(written.ok()) << written.status().message();
  const std::string second = store.next(**opened, 1);
  EXPECT_EQ(second, "+/registry/k/1=v");
}

TEST_F(EtcdServers, CallsSkipAMemberThatDoesNotRespond) {
  auto members = start_etcd_cluster(directory_.path(), 3);
  EtcdProcess& leader = leader_of(members);
  std::vector<EtcdProcess*> followers;
  for (const auto& member : members) {
    if (member.get() != &leader) followers.push_back(member.get());
  }
  OpenStore store(over({followers[0]->url(), leader.url(), followers[1]->url()}));
  store.put("/registry/k/0", "v");
  auto opened = store->watch("/registry/k/", 1);
  ASSERT_TRUE(opened.ok());
  const std::string first = store.next(**opened, 1);
  EXPECT_EQ(first, "+/registry/k/0=v");
  // The first server stops responding, but its connections stay open.
  followers[0]->pause();
  // On a busy machine the other two members are slow, too, and a call may run out of time; its client tries again.
  auto revision = store.run(store->current_revision());
  for (int again = 0; again < 2 && !revision.ok(); ++again) revision = store.run(store->current_revision());
  EXPECT_TRUE(revision.ok()) << revision.status().message();
  TxnRequest request;
  request.puts.push_back({"/registry/k/1", SharedBytes(std::string("v")), 0});
  auto written = store.run(store->txn(request));
  for (int again = 0; again < 2 && !written.ok(); ++again) written = store.run(store->txn(request));
  followers[0]->go_on();
  ASSERT_TRUE(written.ok()) << written.status().message();
  const std::string second = store.next(**opened, 1);
  EXPECT_EQ(second, "+/registry/k/1=v");
}

// A listener with a full backlog: connection attempts neither fail nor succeed.
class FullListener {
 public:
  FullListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listening_, any, size), 0);
    EXPECT_EQ(listen(listening_, 0), 0);
    EXPECT_EQ(getsockname(listening_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    for (int& waiting : waiting_) {
      waiting = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      (void)connect(waiting, any, size);
    }
  }
  FullListener(const FullListener&) = delete;
  FullListener& operator=(const FullListener&) = delete;
  ~FullListener() {
    for (const int waiting : waiting_) close(waiting);
    close(listening_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  const int listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::array<int, 4> waiting_{};
  int port_ = 0;
};

// A connection attempt times out after 5 s.  A call must not wait for that: it uses the next server.
TEST_F(EtcdServers, AMemberThatCannotBeReachedHoldsUpNoWrite) {
  EtcdProcess server(directory_.path());
  const FullListener unreachable;
  IoLoop loop("calls");
  loop.start();
  const auto cluster_of = [](const std::vector<std::string>& urls) {
    return std::make_unique<etcd::Cluster>(etcd::make_servers(settings_for(urls), kConnectionsOfTests).value());
  };
  const auto cluster = cluster_of({unreachable.url(), server.url()});
  etcd::pb::TxnRequest request;
  request.add_success()->mutable_request_put()->set_key("/registry/a");
  const auto written = run_on(loop, cluster->call<etcd::TxnCall>(request, /*reads=*/false, 4s));
  EXPECT_TRUE(written.ok()) << written.status().message();
  // No other server is available.
  const auto alone = cluster_of({unreachable.url()});
  const auto refused = run_on(loop, alone->call<etcd::TxnCall>(request, /*reads=*/false, 300ms));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 503);
  EXPECT_EQ(refused.status().message(), "etcd cannot be reached: context deadline exceeded");
  run_on(loop, alone->stop());
  run_on(loop, cluster->stop());
  loop.stop();
}

// One call has been sent, and another one waits for a connection.
TEST_F(EtcdServers, StoppingEndsTheCallsThatAreUnderWay) {
  EtcdProcess server(directory_.path());
  const FullListener unreachable;
  IoLoop loop("calls");
  loop.start();
  const auto call = [](etcd::Cluster& cluster, Promise<Status> begun, Promise<Status> ended) -> Task<void> {
    etcd::pb::RangeRequest request;
    request.set_key("/registry/a");
    auto calling = cluster.call<etcd::RangeCall>(std::move(request), /*reads=*/false, 60s);
    begun.set(Status());
    const auto answer = co_await std::move(calling);
    ended.set(answer.status());
  };
  for (const std::string& url : {server.url(), unreachable.url()}) {
    etcd::Cluster cluster(etcd::make_servers(settings_for({url}), kConnectionsOfTests).value());
    const auto wait = [](Promise<Status> what) -> Task<Status> {
      const Status status = co_await what.future();
      co_return status;
    };
    if (url == server.url()) server.pause();
    Promise<Status> begun, ended;
    spawn_detached(loop, call(cluster, begun, ended));
    EXPECT_TRUE(run_on(loop, wait(begun)).ok());
    run_on(loop, cluster.stop());
    const Status status = run_on(loop, wait(ended));
    EXPECT_EQ(status.message(), "the store has stopped") << url;
    if (url == server.url()) server.go_on();
  }
  loop.stop();
}

// Requests must not run on a plugin's loop: it sends a request, and is blocked before the response arrives.
TEST_F(EtcdServers, ABlockedReaderOfTheRevisionDelaysNoOther) {
  EtcdProcess server(directory_.path());
  IoLoop blocked("blocked", /*may_block=*/true), other("other");
  blocked.start();
  other.start();
  OpenStore store(over({server.url()}));
  store.put("/registry/a", "1");
  std::promise<void> proceed;
  std::atomic<bool> answered{false};
  blocked.post([&] {
    const auto ask = [](StorageBackend& backend, std::atomic<bool>& done) -> Task<void> {
      auto asking = backend.current_revision();
      const auto revision = co_await std::move(asking);
      EXPECT_TRUE(revision.ok()) << revision.status().message();
      done = true;
    };
    spawn_detached(blocked, ask(*store, answered));
    proceed.get_future().wait();
  });
  for (int i = 0; i < 3; ++i) {
    const auto revision = run_on(other, store->current_revision());
    EXPECT_TRUE(revision.ok()) << revision.status().message();
  }
  EXPECT_FALSE(answered);
  proceed.set_value();
  wait_until([&] { return answered.load(); });
  blocked.stop();
  other.stop();
}

TEST_F(EtcdServers, OneRevisionRequestIsInFlightForAllReaders) {
  EtcdProcess server(directory_.path());
  LoopPool loops{8};  // declared before the store, whose thread posts to the loops
  loops.start();
  OpenStore store(over({server.url()}));
  store.put("/registry/a", "1");
  const std::string ranges = R"(grpc_server_started_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"})";
  const double before = server.metric(ranges);
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::thread> askers;
  std::atomic<int> answers{0};
  for (std::size_t t = 0; t < 8; ++t) {
    askers.emplace_back([&, t] {
      while (std::chrono::steady_clock::now() - begun < 1s) {
        if (run_on(loops.loop(t), store->current_revision()).ok()) ++answers;
      }
      // No caller waits for a request that was started here.
      loops.loop(t).stop();
    });
  }
  for (auto& asker : askers) asker.join();
  const double asked = server.metric(ranges) - before;
  loops.stop();
  EXPECT_GT(answers.load(), 0);
  EXPECT_GT(asked, 0);
  EXPECT_LT(asked, answers.load());
}

// ---- TLS

// Runs an openssl command in `directory`; the test fails if the command fails.
void openssl(const std::string& directory, const std::string& arguments) {
  const std::string command = "cd " + directory + " && openssl " + arguments + " >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}
void make_authority(const std::string& directory, const std::string& name) {
  openssl(directory, "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=" + name + " -keyout " + name +
                         ".key -out " + name + ".crt");
}
void make_certificate(const std::string& directory, const std::string& name, const std::string& authority) {
  std::ofstream(directory + "/san") << "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n";
  openssl(directory,
          "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name + " -keyout " + name + ".key -out " + name + ".csr");
  openssl(directory, "x509 -req -days 1 -in " + name + ".csr -CA " + authority + ".crt -CAkey " + authority +
                         ".key -CAcreateserial -extfile san -out " + name + ".crt");
}

class EtcdOverTls : public EtcdServers {
 protected:
  void SetUp() override {
    EtcdServers::SetUp();
    if (IsSkipped()) return;
    make_authority(dir(), "authority");
    make_authority(dir(), "stranger");
    make_certificate(dir(), "server", "authority");
    make_certificate(dir(), "client", "authority");
    make_certificate(dir(), "intruder", "stranger");
    EtcdProcess::Setup setup;
    setup.tls = true;
    setup.flags = {"--cert-file=" + file("server.crt"), "--key-file=" + file("server.key"), "--client-cert-auth",
                   "--trusted-ca-file=" + file("authority.crt")};
    server_ = std::make_unique<EtcdProcess>(dir(), setup);
  }
  const std::string& dir() const { return directory_.path(); }
  std::string file(const std::string& name) const { return dir() + "/" + name; }
  BackendMaker with(const std::string& authority, const std::string& certificate) {
    auto settings = settings_for({server_->url()});
    settings.authorities_file = file(authority + ".crt");
    if (!certificate.empty()) {
      settings.certificate_file = file(certificate + ".crt");
      settings.key_file = file(certificate + ".key");
    }
    return {"Etcd", [settings](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
              return open_etcd_storage(settings, kConnectionsOfTests);
            }};
  }
  // Replaces a file atomically, as a certificate rotation does.
  void replace(const std::string& name, const std::string& by) {
    std::filesystem::copy_file(file(by), file(name + ".new"), std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(file(name + ".new"), file(name));
  }
  bool answers(OpenStore& store) { return store.run(store->health(2s)).ok(); }
  std::unique_ptr<EtcdProcess> server_;
};

TEST_F(EtcdOverTls, AStoreThatDemandsAClientsCertificateIsReachedWithOne) {
  OpenStore store(with("authority", "client"));
  store.put("/registry/a", "1");
  const std::string value = store.get("/registry/a");
  EXPECT_EQ(value, "1");
}

TEST_F(EtcdOverTls, WithoutAValidCertificateTheStoreIsUnreachable) {
  OpenStore none(with("authority", ""));
  EXPECT_FALSE(answers(none));
  OpenStore intruder(with("authority", "intruder"));
  EXPECT_FALSE(answers(intruder));
  OpenStore deceived(with("stranger", "client"));
  const Status refused = deceived.run(deceived->health(2s));
  EXPECT_TRUE(refused.code() == 503 || refused.code() == 504) << refused.message();
}

TEST_F(EtcdOverTls, FilesThatAreReplacedAreUsedWithoutANewStart) {
  for (const char* name : {"rotated.crt", "rotated.key"}) replace(name, std::string("intruder") + std::string(name).substr(7));
  OpenStore store(with("authority", "rotated"));
  EXPECT_FALSE(answers(store));
  replace("rotated.key", "client.key");
  replace("rotated.crt", "client.crt");
  wait_until([&] { return answers(store); });
  store.put("/registry/a", "1");
}

TEST_F(EtcdOverTls, AnAuthorityThatIsReplacedIsUsedWithoutANewStart) {
  replace("trusted.crt", "stranger.crt");
  OpenStore store(with("trusted", "client"));
  EXPECT_FALSE(answers(store));
  replace("trusted.crt", "authority.crt");
  wait_until([&] { return answers(store); });
}

}  // namespace
}  // namespace backplane
