// Tests of the etcd store: the tests of every store, the tests of the watch cache with etcd, and tests of etcd only, such as servers that
// stop and restart.
#include "../support/skip.hpp"
#include "etcd_storage.hpp"

#include <future>
#include <map>
#include <thread>

#include "etcd_process.hpp"
#include "storage/storage_conformance.hpp"
#include "store_connections.hpp"
#include "watchcache/cache_conformance.hpp"

namespace backplane {
namespace {

// The etcd servers of the tests, one for each directory. A server keeps running when its store is closed and opened again.
class Servers : public testing::Environment {
 public:
  static EtcdProcess& in(const std::string& directory) {
    auto& server = all()[directory];
    if (!server) server = std::make_unique<EtcdProcess>(directory);
    return *server;
  }
  static void end(const std::string& directory) { all().erase(directory); }
  void TearDown() override { all().clear(); }

 private:
  static std::map<std::string, std::unique_ptr<EtcdProcess>>& all() {
    static std::map<std::string, std::unique_ptr<EtcdProcess>> servers;
    return servers;
  }
};
const auto* const kServers = testing::AddGlobalTestEnvironment(new Servers);

etcd::Settings settings_for(const std::vector<std::string>& urls) {
  etcd::Settings settings;
  for (const auto& url : urls) settings.endpoints.push_back(etcd::parse_endpoint(url).value());
  settings.prefix = "/";
  settings.stored_form = "json";
  return settings;
}

BackendMaker etcd_backend() {
  return {"Etcd", [](const std::string& directory) -> Result<std::unique_ptr<StorageBackend>> {
            return open_etcd_storage(settings_for({Servers::in(directory).url()}), kConnectionsOfTests);
          }};
}

// The BackendMaker for etcd; empty if etcd is not installed, and then the test EtcdStorage reports a skip.
std::vector<BackendMaker> makers() {
  return EtcdProcess::installed() ? std::vector<BackendMaker>{etcd_backend()} : std::vector<BackendMaker>();
}

class EtcdStorage : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdProcess::installed()) BACKPLANE_SKIP_WITHOUT("etcd", "this machine has no etcd (package etcd-server)");
  }
};

INSTANTIATE_TEST_SUITE_P(Etcd, StorageConformance, testing::ValuesIn(makers()), maker_name);
INSTANTIATE_TEST_SUITE_P(Etcd, DurableStorageConformance, testing::ValuesIn(makers()), maker_name);
INSTANTIATE_TEST_SUITE_P(Etcd, CacheConformance, testing::ValuesIn(makers()), maker_name);

TEST_F(EtcdStorage, AWatchContinuesAfterTheServerWasKilledAndRestarted) {
  OpenStore store(etcd_backend());
  auto& server = Servers::in(store.directory());
  store.put("/k/0", "v");
  auto opened = store->watch("/k/", 1);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(store.next(**opened, 1), "+/k/0=v");
  server.kill();
  TxnRequest away;
  away.puts.push_back({"/k/1", SharedBytes(std::string("v")), 0});
  const Status refused = store.run(store->txn(away)).status();
  EXPECT_EQ(refused.code(), 503) << refused.message();
  EXPECT_FALSE(store.run(store->health(std::chrono::seconds(2))).ok());
  server.start();
  while (!store.run(store->health(std::chrono::seconds(2))).ok()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  store.put("/k/2", "v");
  const std::string seen = store.next(**opened, 1);
  EXPECT_EQ(seen, "+/k/2=v");
}

TEST_F(EtcdStorage, AWatchThatMissedWhatWasCompactedMeanwhileExpires) {
  OpenStore store(etcd_backend());
  auto& server = Servers::in(store.directory());
  auto opened = store->watch("/k/", 1);
  ASSERT_TRUE(opened.ok());
  store.put("/k/0", "v");
  EXPECT_EQ(store.next(**opened, 1), "+/k/0=v");
  server.kill();
  server.start();
  while (!store.run(store->health(std::chrono::seconds(2))).ok()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  OpenStore other({"Other", [&](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
                     return open_etcd_storage(settings_for({server.url()}), kConnectionsOfTests);
                   }});
  Revision newest = 0;
  for (int i = 0; i < 10; ++i) newest = other.put("/k/1", std::to_string(i));
  ASSERT_TRUE(other.run(other->compact(newest)).ok());
  // Either the watch was reopened before the compaction, or it ends with kExpired; it never continues with a gap.
  std::vector<std::string> values;
  Status ended;
  while (ended.ok() && values.size() < 10) {
    auto batch = store.run((*opened)->next());
    if (!batch.ok()) {
      ended = batch.status();
      break;
    }
    for (const auto& event : batch->events) values.emplace_back(event.kv.value.view());
  }
  if (ended.ok()) {
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], std::to_string(i));
  } else {
    EXPECT_EQ(ended.reason(), Reason::kExpired);
  }
}

TEST_F(EtcdStorage, AnotherServerIsUsedIfOneIsUnreachable) {
  OpenStore store(etcd_backend());
  const std::string url = Servers::in(store.directory()).url();
  store.put("/a", "1");
  OpenStore second({"Second", [&](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
                      return open_etcd_storage(settings_for({"http://127.0.0.1:1", url}), kConnectionsOfTests);
                    }});
  EXPECT_EQ(second.get("/a"), "1");
  EXPECT_EQ(second.put("/a", "2"), 3);
}

TEST_F(EtcdStorage, AServerIsReachedByItsName) {
  OpenStore store(etcd_backend());
  const std::string url = "http://localhost:" + std::to_string(Servers::in(store.directory()).port());
  OpenStore second({"Named", [&](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
                      return open_etcd_storage(settings_for({url}), kConnectionsOfTests);
                    }});
  store.put("/a", "1");
  EXPECT_EQ(second.get("/a"), "1");
  OpenStore third({"Nameless", [&](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
                     return open_etcd_storage(settings_for({"http://no-such-host.invalid:1"}), kConnectionsOfTests);
                   }});
  const auto away = third.run(third->current_revision());
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(away.status().code(), 503) << away.status().message();
}

TEST_F(EtcdStorage, AResponseLargerThanEveryWindowIsReceived) {
  OpenStore store(etcd_backend());
  const std::string value(1'000'000, 'v');
  for (int i = 0; i < 20; ++i) store.put("/large/" + std::to_string(i), value);
  RangeRequest request;
  request.start = "/large/";
  request.end = "/large0";
  const auto all = store.run(store->range(request));
  ASSERT_TRUE(all.ok()) << all.status().message();
  ASSERT_EQ(all->items.size(), 20U);
  EXPECT_EQ(all->items.back().value.view(), value);
  // A watch without a reader stops reading from etcd, and delivers all events afterwards.
  auto watch = store->watch("/large/", 1);
  ASSERT_TRUE(watch.ok());
  std::size_t events = 0;
  while (events < 20) {
    const auto batch = store.run((*watch)->next());
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    events += batch->events.size();
  }
  EXPECT_EQ(events, 20U);
}

TEST_F(EtcdStorage, WaitingCallersShareOneRevisionRequest) {
  LoopPool loops{2};  // declared before the store, whose thread posts to the loops
  loops.start();
  OpenStore store(etcd_backend());
  store.put("/a", "1");
  std::vector<std::thread> askers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    askers.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        // The response includes all commits before the request.
        TxnRequest request;
        request.puts.push_back({"/a", SharedBytes(std::to_string(i)), 0});
        IoLoop& loop = loops.loop(static_cast<std::size_t>(t));
        const auto written = run_on(loop, store->txn(request));
        const auto revision = run_on(loop, store->current_revision());
        if (!written.ok() || !revision.ok() || *revision < written->revision) ++wrong;
      }
    });
  }
  for (auto& asker : askers) asker.join();
  loops.stop();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(EtcdStorage, ReadersDuringARevisionRequestShareTheNextOne) {
  OpenStore store(etcd_backend());
  const auto& server = Servers::in(store.directory());
  const std::string asked = R"(grpc_server_started_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"})";
  store.newest();  // there is a connection
  const double before = server.metric(asked);
  std::vector<std::promise<bool>> askers(100);
  // All requests arrive before the loop processes the first response.
  store.loop().post([&] {
    for (auto& done : askers) {
      spawn_detached(store.loop(), [](StorageBackend& backend, std::promise<bool>& done) -> Task<void> {
        auto asking = backend.current_revision();
        const auto revision = co_await std::move(asking);
        done.set_value(revision.ok() && *revision > 0);
      }(*store, done));
    }
  });
  for (auto& done : askers) EXPECT_TRUE(done.get_future().get());
  EXPECT_EQ(server.metric(asked) - before, 1);
}

TEST_F(EtcdStorage, AKeyPrefixOfItsOwnKeepsTwoClustersApart) {
  OpenStore store(etcd_backend());
  const std::string url = Servers::in(store.directory()).url();
  OpenStore other({"Other", [&](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
                     auto settings = settings_for({url});
                     settings.prefix = "/other";
                     return open_etcd_storage(std::move(settings), kConnectionsOfTests);
                   }});
  auto opened = other->watch("/registry/", other.newest());
  ASSERT_TRUE(opened.ok());
  store.put("/registry/a", "here");
  other.put("/registry/a", "there");
  EXPECT_EQ(other.next(**opened, 1), "+/registry/a=there");
  EXPECT_EQ(other.dump("/registry/"), "/registry/a=there");
  EXPECT_EQ(store.get("/registry/a"), "here");
  EXPECT_EQ(store.get("/other/a"), "there");
}

}  // namespace
}  // namespace backplane
