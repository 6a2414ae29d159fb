// Two servers in one process, each with a separate store, port and set of plugins.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>
#include <semaphore>
#include <set>
#include <sstream>
#include <thread>

#include "base/log.hpp"
#include "running_server.hpp"

namespace backplane {
namespace {

TEST(TwoServers, EachHasItsOwnObjectsAndPluginsAndOutlivesTheOther) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  auto first = std::make_unique<RunningServer>(plugins.path());
  RunningServer second(plugins.path());
  ASSERT_EQ(first->send("POST", std::string(kGadgets), gadget("a")).code, 201);
  ASSERT_EQ(second.send("POST", std::string(kGadgets), gadget("b")).code, 201);
  EXPECT_EQ(first->send("GET", std::string(kGadgets) + "/b").code, 404);
  EXPECT_EQ(second.send("GET", std::string(kGadgets) + "/a").code, 404);
  const Status replaced = second.parts().replace_plugin(kName, build_file("two"));
  ASSERT_TRUE(replaced.ok()) << replaced.message();
  EXPECT_EQ(first->build(), "one");
  EXPECT_EQ(second.build(), "two");
  first.reset();
  EXPECT_EQ(second.send("GET", std::string(kGadgets) + "/b").code, 200);
  EXPECT_EQ(second.send("GET", "/readyz").code, 200);
  // OpenAPI documents are generated on the blocking pool.
  EXPECT_EQ(second.send("GET", "/openapi/v3/apis/test.example.com/v1").code, 200);
  EXPECT_EQ(second.send("GET", "/metrics").code, 200);
  // A body of more than 128 KiB is processed on the offload pool.
  std::string large = gadget("large");
  large.insert(large.size() - 2, R"(,"annotations":{"text":")" + std::string(150'000, 'x') + R"("})");
  EXPECT_EQ(second.send("POST", std::string(kGadgets), large).code, 201);
}

// The lines of /metrics that start with `start`.
std::string metric_lines(RunningServer& server, const std::string& start) {
  std::istringstream lines(server.send("GET", "/metrics").body);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) out += line + "\n";
  }
  return out;
}

TEST(TwoServers, EachCountsItsOwnRequests) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  auto first = std::make_unique<RunningServer>(plugins.path());
  RunningServer second(plugins.path());
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(first->send("POST", std::string(kGadgets), gadget(name)).code, 201);
  const std::string created =
      R"(apiserver_request_total{code="201",component="apiserver",dry_run="",group="test.example.com",resource="gadgets",scope="resource",)"
      R"(subresource="",verb="POST",version="v1"})";
  EXPECT_EQ(metric_lines(*first, created), created + " 3\n");
  EXPECT_EQ(metric_lines(second, created), "");
  ASSERT_EQ(second.send("POST", std::string(kGadgets), gadget("d")).code, 201);
  EXPECT_EQ(metric_lines(*first, created), created + " 3\n");
  EXPECT_EQ(metric_lines(second, created), created + " 1\n");
  // The caches and the store count on threads of their server too.
  const std::string events = R"(apiserver_watch_cache_events_received_total{group="test.example.com",resource="gadgets"})";
  EXPECT_EQ(metric_lines(*first, events), events + " 3\n");
  EXPECT_EQ(metric_lines(second, events), events + " 1\n");
  // Neither the end of one server nor a reset of its metrics changes those of the other.
  ASSERT_EQ(first->send("DELETE", "/metrics").code, 200);
  EXPECT_EQ(metric_lines(*first, created), "");
  EXPECT_EQ(metric_lines(second, created), created + " 1\n");
  first.reset();
  EXPECT_EQ(metric_lines(second, created), created + " 1\n");
  RunningServer third(plugins.path());
  EXPECT_EQ(metric_lines(third, created), "") << "a new server begins with no values";
}

// Blocks threads until all of them are blocked, then releases them.
class Occupied {
 public:
  // Returns when `count` threads, all of the pool, are blocked.
  Occupied(Executor& pool, std::ptrdiff_t count) : count_(count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      pool.post([state = state_] {
        state->held.release();
        state->go.acquire();
      });
    }
    for (std::ptrdiff_t i = 0; i < count; ++i) state_->held.acquire();
  }
  ~Occupied() { release(); }
  Occupied(const Occupied&) = delete;
  void release() { state_->go.release(std::exchange(count_, 0)); }

 private:
  struct State {
    std::counting_semaphore<> held{0}, go{0};
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::ptrdiff_t count_;
};

Task<std::thread::id> thread_of_blocking_work() {
  std::thread::id out;
  auto work = run_blocking([&out] { out = std::this_thread::get_id(); });
  co_await std::move(work);
  co_return out;
}
Task<std::thread::id> thread_of_large_work() {
  Executor& origin = *current_executor();
  const OffloadIfLarge offload(OffloadIfLarge::kSmallBytes + 1);
  co_await offload;
  const auto out = std::this_thread::get_id();
  co_await resume_on(origin);
  co_return out;
}
std::set<std::thread::id> threads_of(Executor& loop, Task<std::thread::id> (*work)()) {
  std::set<std::thread::id> out;
  for (int i = 0; i < 20; ++i) out.insert(run_on(loop, work()));
  return out;
}
bool disjoint(const std::set<std::thread::id>& one, const std::set<std::thread::id>& other) {
  return std::none_of(one.begin(), one.end(), [&](std::thread::id id) { return other.contains(id); });
}

TEST(TwoServers, EachHasPoolsOfItsOwnSize) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  RunningServer narrow(plugins.path(), {"--blocking-threads=1", "--offload-threads=1"});
  RunningServer wide(plugins.path(), {"--blocking-threads=4", "--offload-threads=3"});
  EXPECT_EQ(narrow.parts().pools->offload().size(), 1U);
  EXPECT_EQ(wide.parts().pools->offload().size(), 3U);
  const auto narrow_blocking = threads_of(narrow.parts().background, thread_of_blocking_work);
  const auto wide_blocking = threads_of(wide.parts().background, thread_of_blocking_work);
  EXPECT_EQ(narrow_blocking.size(), 1U);
  EXPECT_TRUE(disjoint(narrow_blocking, wide_blocking));
  const auto narrow_large = threads_of(narrow.parts().background, thread_of_large_work);
  const auto wide_large = threads_of(wide.parts().background, thread_of_large_work);
  EXPECT_EQ(narrow_large.size(), 1U);
  EXPECT_EQ(wide_large.size(), 3U);
  EXPECT_TRUE(disjoint(narrow_large, wide_large));
  // All threads of one server are blocked: the other server's work does not wait for them.
  const Occupied all_of_one(narrow.parts().pools->blocking(), 1);
  const Occupied most_of_other(wide.parts().pools->blocking(), 3);
  EXPECT_EQ(wide.send("GET", "/openapi/v3/apis/test.example.com/v1").code, 200);
  EXPECT_EQ(threads_of(wide.parts().background, thread_of_blocking_work).size(), 1U) << "one of the four is left";
}

TEST(TwoServers, TheEndOfOneJoinsItsPoolsAlone) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  auto first = std::make_unique<RunningServer>(plugins.path());
  RunningServer second(plugins.path(), {"--blocking-threads=2"});
  {
    const Occupied held(second.parts().pools->blocking(), 2);
    first.reset();  // does not wait for a thread of the other server
  }
  EXPECT_EQ(second.send("GET", "/openapi/v3/apis/test.example.com/v1").code, 200);
  std::string large = gadget("large");
  large.insert(large.size() - 2, R"(,"annotations":{"text":")" + std::string(150'000, 'x') + R"("})");
  EXPECT_EQ(second.send("POST", std::string(kGadgets), large).code, 201);
}

// Regression: counters in static variables belonged to the first server.
TEST(TwoServers, EachExposesItsCountsOfAudit) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  RunningServer first(plugins.path()), second(plugins.path());
  for (RunningServer* server : {&first, &second})
    EXPECT_EQ(metric_lines(*server, "apiserver_audit_event_total"), "apiserver_audit_event_total 0\n");
}

TEST(TwoServers, EachHasALogLevel) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  RunningServer quiet(plugins.path());
  RunningServer verbose(plugins.path(), {"--v=3"});
  const auto lines_of = [](RunningServer& server, const std::string& path) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(server.send("GET", path).code, 404);
    server.send("GET", "/readyz");  // on the same connection: the line of the request before it has been written
    flush_logs();
    const std::string text = ::testing::internal::GetCapturedStderr();
    return text.find(path) != std::string::npos;
  };
  const std::string path = std::string(kGadgets) + "/none";
  EXPECT_FALSE(lines_of(quiet, path));
  EXPECT_TRUE(lines_of(verbose, path));
  // Also at run time.
  EXPECT_EQ(quiet.send("PUT", "/debug/flags/v", "3").code, 200);
  EXPECT_EQ(verbose.send("PUT", "/debug/flags/v", "0").code, 200);
  EXPECT_TRUE(lines_of(quiet, path));
  EXPECT_FALSE(lines_of(verbose, path));
}

TEST(TwoServers, CborIsOfferedByTheServerWhoseGateIsOn) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  RunningServer with(plugins.path(), {"--feature-gates=CBORServingAndStorage=true"});
  RunningServer without(plugins.path());
  const std::string missing = std::string(kGadgets) + "/none";
  EXPECT_EQ(with.send("GET", missing, "", "application/cbor").body.substr(0, 3), "\xd9\xd9\xf7");
  EXPECT_EQ(without.send("GET", missing, "", "application/cbor").body.substr(0, 1), "{");
}

bool answers_with(RunningServer& server, const std::string& path, const std::string& text) {
  const auto answer = server.send("GET", path);
  EXPECT_EQ(answer.code, 200) << path;
  return answer.body.find(text) != std::string::npos;
}

// Regression: the version was a variable of the process, so the last created server decided it for all.
TEST(TwoServers, EachReportsItsOwnVersion) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  RunningServer older(plugins.path(), {"--emulated-version=1.34", "--version=v1.36.3-vendor.1", "--feature-gates=ComponentStatusz=true"});
  RunningServer newest(plugins.path());
  RunningServer between(plugins.path(), {"--emulated-version=1.35", "--min-compatibility-version=1.35"});
  struct Row {
    RunningServer& server;
    std::string release, oldest, git;
  };
  const Row rows[] = {{older, "34", "33", "v1.36.3-vendor.1"}, {newest, "36", "35", "v1.36.3"}, {between, "35", "35", "v1.36.3"}};
  for (const Row& row : rows) {
    const json::value version = json::parse(row.server.send("GET", "/version").body);
    const auto field = [&](const char* name) { return std::string(version.at(name).as_string()); };
    EXPECT_EQ(field("emulationMinor"), row.release);
    EXPECT_EQ(field("minCompatibilityMinor"), row.oldest);
    EXPECT_EQ(field("gitVersion"), row.git);
    EXPECT_EQ(field("minor"), "36");
    EXPECT_EQ(metric_lines(row.server, "version_info{"), R"(version_info{binary="1.36",component="kube",emulation="1.)" + row.release +
                                                             R"(",min_compat="1.)" + row.oldest + "\"} 1\n");
    const std::string build = metric_lines(row.server, "kubernetes_build_info{");
    EXPECT_NE(build.find("git_version=\"" + row.git + "\""), std::string::npos) << build;
    const std::string title = R"("info":{"title":"Kubernetes","version":"1.)" + row.release + "\"}";
    for (const char* path : {"/openapi/v2", "/openapi/v3/version", "/openapi/v3/apis/test.example.com/v1"})
      EXPECT_TRUE(answers_with(row.server, path, title)) << path;
  }
  EXPECT_TRUE(answers_with(older, "/statusz", "Binary version: 1.36.3-vendor.1\nEmulation version: 1.34\n"));
}

TEST(TwoServers, EachServesTheApisOfItsRelease) {
  TemporaryDirectory plugins;
  for (const std::string name : {"core.so", "resource.so"}) std::filesystem::create_symlink(PLUGIN_DIR "/" + name, plugins / name);
  RunningServer older(plugins.path(), {"--emulated-version=1.33"});
  RunningServer newest(plugins.path());
  EXPECT_EQ(older.send("GET", "/apis/resource.k8s.io/v1").code, 404);
  EXPECT_EQ(newest.send("GET", "/apis/resource.k8s.io/v1").code, 200);
  EXPECT_EQ(newest.send("GET", "/openapi/v3/apis/resource.k8s.io/v1").code, 200);
  EXPECT_EQ(older.send("GET", "/apis/resource.k8s.io/v1").code, 404);
}

}  // namespace
}  // namespace backplane
