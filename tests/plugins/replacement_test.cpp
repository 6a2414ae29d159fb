// Replaces a plugin of a running server by another build, and withdraws it, while requests are in flight and watches are open.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/metrics.hpp"
#include "running_server.hpp"

namespace backplane {
namespace {

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// The number of builds of the plugin that are mapped into this process.
std::size_t mapped_builds() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (const auto at = line.find("test.example.com_gadgets"); at != std::string::npos) files.insert(line.substr(at));
  }
  return files.size();
}

double noted(std::string_view what) {
  for (const auto& metric : Metric::all()) {
    if (metric.name != "gadgets_lifecycle_total") continue;
    const auto found = metric.series.find({std::string(what)});
    return found == metric.series.end() ? 0 : found->second.value;
  }
  return 0;
}

// Runs clients while the plugin is replaced, and counts their results.
class Load {
 public:
  explicit Load(RunningServer& server) : server_(server) {}

  void start() {
    for (int i = 0; i < kWatchers; ++i) server_.tasks().spawn(server_.loop(), "watcher", watch());
    for (int i = 0; i < 2; ++i) server_.tasks().spawn(server_.loop(), "reader", read(server_.client()));
    server_.tasks().spawn(server_.loop(), "token", read(server_.by_token()));
    server_.tasks().spawn(server_.loop(), "writer", write());
  }
  // Ends the load when every watcher has received the last write.
  void stop() {
    stopping_ = true;
    run_on(server_.loop(), ended_.wait());
  }
  std::vector<std::string> failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }
  std::uint64_t requests() const { return requests_; }
  std::uint64_t watches() const { return watches_; }
  std::uint64_t written() const { return written_; }

  static constexpr int kWatchers = 3;

 private:
  void fail(const std::string& what, int code, const std::string& text) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(what + ": " + std::to_string(code) + " " + text);
  }
  Task<void> expect(HttpClient& client, std::string method, std::string target, int code, std::string body = {}) {
    HttpCall call;
    call.method = method;
    call.target = target;
    call.body = std::move(body);
    if (!call.body.empty()) call.headers.emplace_back("Content-Type", "application/json");
    auto asking = RunningServer::ask(client, std::move(call));
    const auto answer = co_await std::move(asking);
    ++requests_;
    if (answer.code != code) fail(method + " " + target, answer.code, answer.body);
  }
  Task<void> read(HttpClient& client) {
    running_.fetch_add(1);
    while (!stopping_) {
      for (const char* target : {"/apis/test.example.com/v1/gadgets/fixed", "/apis/test.example.com/v1/gadgets", "/gadgets/slow",
                                 "/gadgets/build", "/apis/test.example.com/v1", "/readyz"}) {
        auto asking = expect(client, "GET", target, 200);
        co_await std::move(asking);
      }
    }
    leave();
  }
  Task<void> write() {
    running_.fetch_add(1);
    auto watched = watched_.wait();
    co_await std::move(watched);
    while (!stopping_) {
      const std::string name = "g-" + std::to_string(written_.load());
      auto creating = expect(server_.client(), "POST", std::string(kGadgets), 201, gadget(name));
      co_await std::move(creating);
      written_.fetch_add(1);
      auto removing = expect(server_.client(), "DELETE", std::string(kGadgets) + "/" + name, 200);
      co_await std::move(removing);
    }
    auto last = expect(server_.client(), "POST", std::string(kGadgets), 201, gadget("last"));
    co_await std::move(last);
    leave();
  }

  // Watches, and resumes at the last revision when the stream ends. Expects each gadget once, in order.
  Task<void> watch() {
    running_.fetch_add(1);
    std::string revision = "0";
    std::uint64_t expected = 0;
    bool seen_last = false;
    while (!seen_last) {
      HttpCall call;
      call.target = std::string(kGadgets) + "?watch=true&resourceVersion=" + revision;
      call.lasting = true;
      auto calling = server_.client().call(std::move(call));
      auto answered = co_await std::move(calling);
      if (watches_.fetch_add(1) + 1 == kWatchers) watched_.fire();
      if (!answered.ok() || (*answered)->code() != 200) {
        fail("watch", answered.ok() ? (*answered)->code() : 0, answered.ok() ? "" : answered.status().message());
        break;
      }
      auto following = follow(**answered, revision, expected);
      seen_last = co_await std::move(following);
    }
    leave();
  }
  Task<bool> follow(HttpAnswer& answer, std::string& revision, std::uint64_t& expected) {
    std::string buffer;
    for (;;) {
      auto reading = answer.read();
      auto piece = co_await std::move(reading);
      if (!piece.ok()) {
        fail("a watch did not end cleanly", 0, piece.status().message());
        co_return false;
      }
      if (piece->empty()) co_return false;
      buffer += *piece;
      for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
        auto event = parse_json(buffer.substr(0, end), {}, nullptr);
        buffer.erase(0, end + 1);
        if (take(event->get_object(), revision, expected)) co_return true;
      }
    }
  }
  bool take(const Object& event, std::string& revision, std::uint64_t& expected) {
    const std::string name(get_string_path(event, "object.metadata.name"));
    revision = std::string(get_string_path(event, "object.metadata.resourceVersion"));
    if (get_string(event, "type") == "ERROR") fail("a watch gave an error", 0, to_json(event));
    if (get_string(event, "type") != "ADDED") return false;
    if (name == "last") return true;
    if (!name.starts_with("g-")) return false;
    if (name != "g-" + std::to_string(expected)) fail("a watch missed an event", 0, name + " instead of g-" + std::to_string(expected));
    ++expected;
    return false;
  }
  void leave() {
    if (running_.fetch_sub(1) == 1) ended_.fire();
  }

  RunningServer& server_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> running_{0};
  std::atomic<std::uint64_t> requests_{0}, watches_{0}, written_{0};
  NamedSignal watched_{"watched"}, ended_{"ended"};
  mutable std::mutex mutex_;
  std::vector<std::string> failures_;
};

// Creates and deletes definitions of custom resources, so that other groups change.
class Definitions {
 public:
  explicit Definitions(RunningServer& server) : server_(server) {}

  void start() { server_.tasks().spawn(server_.loop(), "definitions", churn_definitions()); }
  void stop() {
    stopping_ = true;
    run_on(server_.loop(), ended_.wait());
  }
  int refused() const { return refused_; }
  int changes() const { return changes_; }
  // Creates one definition, and waits until its resource is served.
  static void add(RunningServer& server, const std::string& singular) {
    ASSERT_EQ(server.send("POST", std::string(kDefinitions), definition(singular)).code, 201);
    while (server.send("GET", "/apis/x.example.com/v1/" + singular + "s").code != 200) std::this_thread::yield();
  }

 private:
  static constexpr std::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  static std::string definition(const std::string& singular) {
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")" + singular +
           R"(s.x.example.com"},"spec":{"group":"x.example.com","scope":"Cluster","names":{"plural":")" + singular + R"(s","singular":")" +
           singular + R"(","kind":")" + singular +
           R"("},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  }
  Task<void> send(std::string method, std::string target, std::string body, int code) {
    HttpCall call;
    call.method = std::move(method);
    call.target = std::move(target);
    call.body = std::move(body);
    if (!call.body.empty()) call.headers.emplace_back("Content-Type", "application/json");
    auto asking = RunningServer::ask(server_.client(), std::move(call));
    const auto answer = co_await std::move(asking);
    if (answer.code != code) refused_.fetch_add(1);
    changes_.fetch_add(1);
  }
  Task<void> churn_definitions() {
    for (int i = 0; !stopping_; ++i) {
      const std::string name = "thing" + std::to_string(i);
      auto creating = send("POST", std::string(kDefinitions), definition(name), 201);
      co_await std::move(creating);
      co_await sleep_for(std::chrono::milliseconds(20));
      auto removing = send("DELETE", std::string(kDefinitions) + "/" + name + "s.x.example.com", {}, 200);
      co_await std::move(removing);
    }
    ended_.fire();
  }

  RunningServer& server_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> refused_{0}, changes_{0};
  NamedSignal ended_{"ended"};
};

class Replacement : public ::testing::Test {
 protected:
  // `others`: plugins of the tree that run beside it.
  explicit Replacement(const std::vector<std::string>& others = {}, const std::vector<std::string>& flags = {}) {
    std::filesystem::create_symlink(build_file("one"), plugins_ / "gadgets.so");
    for (const auto& name : others) {
      std::filesystem::create_symlink(std::string(PLUGIN_DIR) + "/" + name + ".so", plugins_ / (name + ".so"));
    }
    server_ = std::make_unique<RunningServer>(plugins_.path(), flags);
    before_ = {noted("made"), noted("destroyed")};
  }
  // Replaces the plugin by `build`, and waits until the former build has ended and its code is unmapped.
  void replaced_by(const std::string& build) {
    const Status status = server_->parts().replace_plugin(kName, build_file(build));
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(server_->parts().plugins->wait_retired(std::chrono::seconds(60)));
  }
  // A former build is unmapped soon after it has retired; if it is not, the test's time limit ends the wait.
  static void wait_mapped(std::size_t builds) {
    while (mapped_builds() != builds) std::this_thread::yield();
  }
  void refused(const std::string& build, const std::string& words) {
    const Status status = server_->parts().replace_plugin(kName, build_file(build));
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
    EXPECT_TRUE(server_->parts().plugins->wait_retired(std::chrono::seconds(60)));
    EXPECT_EQ(server_->build(), "one");
    EXPECT_EQ(server_->send("GET", std::string(kGadgets)).code, 200);
    EXPECT_EQ(server_->send("POST", std::string(kGadgets), gadget("after-" + std::to_string(++refused_))).code, 201);
    EXPECT_EQ(server_->send("GET", "/readyz").code, 200);
    EXPECT_EQ(noted("made") - before_.made, noted("destroyed") - before_.destroyed) << "what was staged has been destroyed";
    wait_mapped(mapped_before_ + 1);
  }

  struct Counts {
    double made = 0, destroyed = 0;
  };
  TemporaryDirectory plugins_;
  std::unique_ptr<RunningServer> server_;
  Counts before_;
  const std::size_t mapped_before_ = mapped_builds();  // builds of stopped servers: their code stays mapped
  int refused_ = 0;
};

TEST_F(Replacement, ANewBuildServesAndTheObjectsStay) {
  EXPECT_EQ(server_->build(), "one");
  ASSERT_EQ(server_->send("POST", std::string(kGadgets), gadget("kept")).code, 201);
  const double finished = noted("finished"), stopped = noted("stopped"), started = noted("started");
  replaced_by("two");
  EXPECT_EQ(server_->build(), "two");
  EXPECT_EQ(server_->send("GET", std::string(kGadgets) + "/kept").code, 200);
  EXPECT_NE(server_->send("POST", std::string(kGadgets), gadget("new")).body.find(R"("build":"two")"), std::string::npos);
  EXPECT_EQ(noted("started"), started + 1) << "post-start hooks of the new build";
  EXPECT_EQ(noted("finished"), finished + 1) << "pre-shutdown hooks of the former one";
  EXPECT_EQ(noted("stopped"), stopped + 1) << "its tasks get the stop signal, and what its hooks own still exists";
  wait_mapped(mapped_before_ + 1);
}

TEST_F(Replacement, AFaultInAnyStepLeavesTheServerAsItWas) {
  refused("fails_in_provision", "provision() failed: ");
  refused("fails_in_validate", "validate() failed: ");
  refused("fails_in_start", "it fails on purpose");
  EXPECT_FALSE(server_->parts().replace_plugin("other", build_file("two")).ok());
  EXPECT_FALSE(server_->parts().replace_plugin(kName, build_file("absent")).ok());
  replaced_by("two");
  EXPECT_EQ(server_->build(), "two");
}

// The build is refused after its tasks were started.
TEST_F(Replacement, ABuildThatCannotTakeThePlaceOfTheFormerOneIsUnloaded) {
  for (int i = 0; i < 3; ++i) refused("publishes", "it publishes groups at run time");
  EXPECT_EQ(server_->parts().plugins->generations_unmapped(), 3u);
}

class ReplacementWithinASecond : public Replacement {
 protected:
  ReplacementWithinASecond() : Replacement({}, {"--plugin-call-timeout=1s"}) {}
};

// The call that was given up returns later, and uses the objects of its build until then.
TEST_F(ReplacementWithinASecond, ACallThatReturnsTooLateEndsBeforeItsBuild) {
  for (int i = 0; i < 2; ++i) refused("slow", "provision() has not returned within 1 s");
  EXPECT_EQ(server_->send("GET", "/slow-gadgets").code, 404);
  EXPECT_EQ(server_->parts().plugins->generations_unmapped(), 2u);
}

TEST_F(Replacement, TheFormerBuildComesBackByARollbackAndAgainByAnother) {
  EXPECT_EQ(server_->parts().act({PluginAction::kRollback, kName, {}}).status().message(),
            std::string("plugin \"") + kName + "\" cannot be changed while the server runs: there is no former build of it");
  replaced_by("two");
  for (const char* build : {"one", "two"}) {
    const auto acted = server_->parts().act({PluginAction::kRollback, kName, {}});
    ASSERT_TRUE(acted.ok()) << acted.status().message();
    EXPECT_EQ(server_->build(), build);
    ASSERT_TRUE(server_->parts().plugins->wait_retired(std::chrono::seconds(60)));
  }
  wait_mapped(mapped_before_ + 1);
}

TEST_F(Replacement, ADryRunStagesAndChangesNothing) {
  PluginRequest request{PluginAction::kReload, kName, build_file("two"), true};
  const auto acted = server_->parts().act(request);
  ASSERT_TRUE(acted.ok()) << acted.status().message();
  EXPECT_EQ(server_->build(), "one");
  ASSERT_TRUE(server_->parts().plugins->wait_retired(std::chrono::seconds(60)));
  request.file = build_file("fails_in_validate");
  EXPECT_FALSE(server_->parts().act(request).ok());
  EXPECT_EQ(server_->parts().plugins->status_of(kName)->build, 1u);
}

class ReplacementBesideDefinitions : public Replacement {
 protected:
  ReplacementBesideDefinitions() : Replacement({"apiextensions"}) {}
};

TEST_F(ReplacementBesideDefinitions, ADiscardedBuildWithAnotherCacheLeavesTheRunningOneServed) {
  ASSERT_EQ(server_->send("POST", std::string(kGadgets), gadget("fixed")).code, 201);
  Load load(*server_);
  load.start();
  const auto dry_run = server_->parts().act({PluginAction::kReload, kName, build_file("field"), true});
  EXPECT_TRUE(dry_run.ok()) << dry_run.status().message();
  ASSERT_NO_FATAL_FAILURE(Definitions::add(*server_, "thing"));
  int seen = 0;
  for (const char* build : {"field_fails_in_validate", "field_fails_in_start"}) {
    refused(build, build == std::string("field_fails_in_start") ? "it fails on purpose" : "validate() failed: ");
    ASSERT_NO_FATAL_FAILURE(Definitions::add(*server_, "thing" + std::string(++seen, 'x')));
    EXPECT_EQ(server_->send("GET", std::string(kGadgets) + "/fixed").code, 200);
  }
  load.stop();
  const auto failures = load.failures();
  EXPECT_TRUE(failures.empty()) << failures.size() << " failures, the first: " << failures.front();
  replaced_by("field");
  EXPECT_EQ(server_->send("GET", std::string(kGadgets) + "?fieldSelector=spec.size%3D0").code, 200);
}

TEST_F(ReplacementBesideDefinitions, BuildsWithOtherCachesReplaceEachOtherWhileOtherGroupsChange) {
  ASSERT_EQ(server_->send("POST", std::string(kGadgets), gadget("fixed")).code, 201);
  Load load(*server_);
  Definitions definitions(*server_);
  load.start();
  definitions.start();
  for (int i = 0; i < 20; ++i) {
    ASSERT_NO_FATAL_FAILURE(replaced_by(i % 2 == 0 ? "field" : "one")) << i;
  }
  definitions.stop();
  load.stop();
  const auto failures = load.failures();
  EXPECT_TRUE(failures.empty()) << failures.size() << " failures, the first: " << failures.front();
  EXPECT_EQ(definitions.refused(), 0);
  EXPECT_GT(definitions.changes(), 20);
  EXPECT_GT(load.watches(), static_cast<std::uint64_t>(Load::kWatchers * 10)) << "watches are ended and resumed";
}

TEST_F(Replacement, AWithdrawnPluginIsAddedAgain) {
  ASSERT_EQ(server_->send("POST", std::string(kGadgets), gadget("kept")).code, 201);
  ASSERT_TRUE(server_->parts().withdraw_plugin(kName).ok());
  ASSERT_TRUE(server_->parts().plugins->wait_retired(std::chrono::seconds(60)));
  EXPECT_EQ(server_->send("POST", std::string(kGadgets), gadget("new")).code, 503);
  EXPECT_EQ(server_->parts().plugins->status_of(kName)->state, PluginState::kDisabled);
  const auto acted = server_->parts().act({PluginAction::kEnable, kName, {}});
  ASSERT_TRUE(acted.ok()) << acted.status().message();
  EXPECT_EQ(server_->send("GET", std::string(kGadgets) + "/kept").code, 200);
  EXPECT_EQ(server_->build(), "one");
  EXPECT_EQ(server_->send("GET", "/readyz/gadgets").code, 200);
  EXPECT_NE(server_->send("GET", "/metrics").body.find("gadgets_lifecycle_total"), std::string::npos);
  EXPECT_FALSE(server_->parts().act({PluginAction::kEnable, kName, {}}).ok()) << "it runs already";
}

// Creates gadgets in dry runs, and counts the results.
struct DryRuns {
  std::atomic<bool> stopping{false};
  std::atomic<int> admitted{0}, not_admitted{0}, refused{0}, other{0};
  NamedSignal ended{"ended"};

  int accepted() const { return admitted + not_admitted; }
  static Task<void> run(DryRuns& out, HttpClient& client) {
    while (!out.stopping) {
      HttpCall call;
      call.method = "POST";
      call.target = std::string(kGadgets) + "?dryRun=All";
      call.body = gadget("dry");
      call.headers.emplace_back("Content-Type", "application/json");
      auto asking = RunningServer::ask(client, std::move(call));
      const auto answer = co_await std::move(asking);
      if (answer.code == 201) {
        ++(answer.body.find(R"("build":"one")") != std::string::npos ? out.admitted : out.not_admitted);
      } else {
        ++(answer.code == 503 ? out.refused : out.other);
      }
    }
    out.ended.fire();
  }
};

// Regression: for some milliseconds, an added plugin's kinds were served without its admission plugins.
TEST_F(Replacement, TheKindsOfAPluginAreNeverServedWithoutItsAdmission) {
  DryRuns runs;
  server_->tasks().spawn(server_->loop(), "dry runs", DryRuns::run(runs, server_->client()));
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(server_->parts().withdraw_plugin(kName).ok());
    const int before = runs.accepted();
    ASSERT_TRUE(server_->parts().act({PluginAction::kEnable, kName, {}}).ok());
    while (runs.accepted() == before) std::this_thread::yield();
  }
  runs.stopping = true;
  run_on(server_->loop(), runs.ended.wait());
  EXPECT_GT(runs.refused, 0);
  EXPECT_EQ(runs.not_admitted, 0);
  EXPECT_EQ(runs.other, 0);
}

TEST_F(Replacement, AWithdrawnPluginLeavesTheStoredObjectsOfItsGroupsAndNothingElse) {
  ASSERT_EQ(server_->send("POST", std::string(kGadgets), gadget("kept")).code, 201);
  const Status status = server_->parts().withdraw_plugin(kName);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(server_->send("GET", std::string(kGadgets) + "/kept").code, 200);
  EXPECT_EQ(server_->send("POST", std::string(kGadgets), gadget("new")).code, 503);
  EXPECT_EQ(server_->send("GET", "/gadgets/build").code, 404);
  EXPECT_EQ(server_->send("GET", "/readyz/gadgets").code, 404);
  EXPECT_EQ(server_->send("GET", "/readyz").code, 200);
  ASSERT_TRUE(server_->parts().plugins->wait_retired(std::chrono::seconds(60)));
  if (mapped_before_ == 0) {  // a build of a stopped server, which stays mapped, uses the metric
    EXPECT_EQ(server_->send("GET", "/metrics").body.find("gadgets_lifecycle_total"), std::string::npos);
  }
  wait_mapped(mapped_before_);
}

// The number of replacements: the environment variable BACKPLANE_RELOADS if it is greater than 40, otherwise 200.
int reloads() {
  const char* text = std::getenv("BACKPLANE_RELOADS");
  const int times = text != nullptr ? std::atoi(text) : 0;
  return times > 40 ? times : 200;
}

TEST_F(Replacement, HundredsOfTimesUnderLoadNoRequestFailsAndMemoryReturns) {
  ASSERT_EQ(server_->send("POST", std::string(kGadgets), gadget("fixed")).code, 201);
  Load load(*server_);
  load.start();
  constexpr int kWarm = 20;
  const int times = reloads();
  std::size_t warm = 0;
  for (int i = 0; i < times; ++i) {
    ASSERT_NO_FATAL_FAILURE(replaced_by(i % 2 == 0 ? "two" : "one")) << i;
    if (i == kWarm) warm = resident_bytes();
  }
  load.stop();
  const auto failures = load.failures();
  EXPECT_TRUE(failures.empty()) << failures.size() << " failures, the first: " << failures.front();
  EXPECT_GT(load.requests(), 1000u);
  EXPECT_GT(load.watches(), static_cast<std::uint64_t>(Load::kWatchers * times / 2)) << "watches are ended and resumed";
  EXPECT_EQ(server_->parts().plugins->generations_ended(), static_cast<std::size_t>(times));
  while (server_->parts().plugins->generations_unmapped() < static_cast<std::size_t>(times)) std::this_thread::yield();
  wait_mapped(mapped_before_ + 1);
  // If builds were leaked, 180 builds with 2 MiB each, and their code, would take far more memory.
  EXPECT_LT(resident_bytes(), warm + (std::size_t{48} << 20));
}

}  // namespace
}  // namespace backplane
