#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include "app/hooks.hpp"
#include "app/kubeconfig.hpp"
#include "app/lifecycle.hpp"
#include "app/load_progress.hpp"
#include "app/paths.hpp"
#include "app/service_manager.hpp"
#include "app/stop_event.hpp"
#include "app/watchdog.hpp"
#include "base/io_loop.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

// The recorded steps in order, from any thread.
class CallLog {
 public:
  void note(std::string line) {
    std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }
  std::size_t index(const std::string& line) const {
    const auto all = lines();
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), line) - all.begin());
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// A server whose connections close when `open` becomes false.
class FakeServer final : public DrainableServer {
 public:
  explicit FakeServer(CallLog& log) : log_(log) {}
  void stop_listening(std::function<void()> done) override {
    log_.note("stop listening");
    done();
  }
  void shorten_write_timeouts() override { log_.note("shorten write timeouts"); }
  void begin_drain() override { log_.note("begin drain"); }
  Task<bool> wait_closed(std::chrono::steady_clock::time_point deadline) override {
    log_.note("wait closed");
    last_deadline = deadline;
    co_return !never_closes;
  }
  void force_close() override { log_.note("force close"); }
  bool never_closes = false;
  std::chrono::steady_clock::time_point last_deadline;

 private:
  CallLog& log_;
};

struct Lifecycle : ::testing::Test {
  Lifecycle() {
    loop.start();
    for (NamedSignal* signal :
         {&signals.shutdown_initiated, &signals.after_shutdown_delay_duration, &signals.pre_shutdown_hooks_stopped,
          &signals.not_accepting_new_request, &signals.in_flight_requests_drained, &signals.http_server_stopped_listening}) {
      signal->on_fire([this, signal] { log.note(std::string(signal->name())); });
    }
  }
  static Task<Status> hook_ok(CallLog& log) {
    log.note("hook");
    co_return Status();
  }
  static Task<Status> hook_fails() { co_return internal_error("no"); }
  ShutdownParts parts() {
    return {options, signals, short_requests, watches, server, [this] { return hook_ok(log); }};
  }

  IoLoop loop{"test"};
  CallLog log;
  LifecycleSignals signals;
  WaitGroup short_requests;
  PacedWaitGroup watches;
  FakeServer server{log};
  ShutdownOptions options;
};

TEST_F(Lifecycle, WithoutRetryAfterTheListenerClosesBeforeRequestsDrain) {
  EXPECT_TRUE(run_on(loop, run_shutdown(parts())).ok());
  EXPECT_EQ(log.lines(),
            (std::vector<std::string>{"ShutdownInitiated", "hook", "PreShutdownHooksStopped", "AfterShutdownDelayDuration",
                                      "NotAcceptingNewRequest", "shorten write timeouts", "stop listening", "HTTPServerStoppedListening",
                                      "wait closed", "begin drain", "wait closed", "InFlightRequestsDrained", "wait closed"}));
}

TEST_F(Lifecycle, WithRetryAfterTheListenerStaysUntilRequestsHaveDrained) {
  options.send_retry_after = true;
  EXPECT_TRUE(run_on(loop, run_shutdown(parts())).ok());
  EXPECT_LT(log.index("InFlightRequestsDrained"), log.index("stop listening"));
  EXPECT_LT(log.index("stop listening"), log.index("HTTPServerStoppedListening"));
}

TEST_F(Lifecycle, ConnectionsThatDoNotEndAreCut) {
  server.never_closes = true;
  EXPECT_TRUE(run_on(loop, run_shutdown(parts())).ok());
  EXPECT_LT(log.index("force close"), log.lines().size());
}

// Regression: the limit of connections started only when the limit of requests had passed, so that both were added up.
TEST_F(Lifecycle, ConnectionsHaveNoMoreTimeThanRequestsHad) {
  options.request_timeout = 1h;
  ASSERT_TRUE(short_requests.try_add());
  std::chrono::steady_clock::time_point stopped;
  signals.http_server_stopped_listening.on_fire([this, &stopped] {
    stopped = std::chrono::steady_clock::now();
    loop.after(20ms, [this] { short_requests.done(); });
  });
  EXPECT_TRUE(run_on(loop, run_shutdown(parts())).ok());
  EXPECT_LE(server.last_deadline, stopped + 1h);
}

TEST_F(Lifecycle, RequestsInFlightAreWaitedFor) {
  ASSERT_TRUE(short_requests.try_add());
  signals.http_server_stopped_listening.on_fire([this] {
    loop.post([this] {
      log.note("request ends");
      short_requests.done();
    });
  });
  EXPECT_TRUE(run_on(loop, run_shutdown(parts())).ok());
  EXPECT_LT(log.index("request ends"), log.index("InFlightRequestsDrained"));
}

TEST_F(Lifecycle, WatchesAreWaitedForWithinTheirGracePeriod) {
  options.watch_termination_grace_period = 10s;
  ASSERT_TRUE(watches.try_add());
  signals.not_accepting_new_request.on_fire([this] {
    loop.post([this] {
      log.note("watch ends");
      watches.done();
    });
  });
  EXPECT_TRUE(run_on(loop, run_shutdown(parts())).ok());
  EXPECT_LT(log.index("watch ends"), log.index("InFlightRequestsDrained"));
}

TEST_F(Lifecycle, TheErrorOfAPreShutdownHookIsReturnedAfterTheDrain) {
  auto with_failure = parts();
  with_failure.run_pre_shutdown_hooks = hook_fails;
  EXPECT_FALSE(run_on(loop, run_shutdown(with_failure)).ok());
  EXPECT_LT(log.index("InFlightRequestsDrained"), log.lines().size());
}

TEST_F(Lifecycle, AWaitEndsWithTheSignalOrWithItsLimit) {
  NamedSignal fired("fired");
  NamedSignal never("never");
  fired.fire();
  EXPECT_TRUE(run_on(loop, wait_for(fired, 1h)));
  EXPECT_FALSE(run_on(loop, wait_for(never, 1ms)));
}

// ---- hooks

struct HookTest : ::testing::Test {
  HookTest() { loop.start(); }
  ~HookTest() override {
    stop.fire();
    tasks.close();
    run_on(loop, tasks.wait_all());
  }
  static Task<Status> ok(PostStartHookContext) { co_return Status(); }
  static Task<Status> until_stop(PostStartHookContext context) {
    co_await context.stop.wait();
    co_return Status();
  }
  static Task<Status> fails(PostStartHookContext) { co_return internal_error("no store"); }
  static Task<Status> pre_ok() { co_return Status(); }
  static Task<Status> pre_fails() { co_return internal_error("cannot"); }
  static Task<void> wait(Signal& signal) { co_await signal.wait(); }
  static Task<Status> check(HealthCheck& health) {
    Status status = co_await health.check();
    co_return status;
  }

  IoLoop loop{"test"};
  Hooks::ExecutorOf on_loop = [this](const std::string&) -> Executor& { return loop; };
  LoggedTaskGroup tasks;
  NamedSignal stop{"stop"};
  NamedSignal died{"died"};
  std::string last_output;
  Hooks hooks{[this](std::string why) {
                last_output = std::move(why);
                died.fire();
              },
              [](const PostStartHookEntry& hook) { return hook.registrant != "optional"; }};
};

TEST_F(HookTest, ADuplicateNamesItsFirstRegistrant) {
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"a", ok, "core"}).ok());
  Status status = hooks.add(PostStartHookEntry{"a", ok, "apps"});
  EXPECT_EQ(status.reason(), Reason::kAlreadyExists);
  EXPECT_EQ(status.message(), "unable to add \"a\" because it was already registered by core");
  ASSERT_TRUE(hooks.add(PreShutdownHookEntry{"a", pre_ok, "core"}).ok());
  EXPECT_FALSE(hooks.add(PreShutdownHookEntry{"a", pre_ok, "apps"}).ok());
}

TEST_F(HookTest, ADisabledHookIsSkipped) {
  hooks.disable("off");
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"off", fails, "x"}).ok());
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"on", ok, "x"}).ok());
  const auto checks = hooks.health_checks();
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0]->name(), "poststarthook/on");
  hooks.start(tasks, on_loop, stop);
  run_on(loop, wait(hooks.all_done()));
  EXPECT_FALSE(died.fired());
  hooks.replace("x", {PostStartHookEntry{"off", fails, "x"}}, {});
  EXPECT_TRUE(hooks.health_checks().empty());
}

TEST_F(HookTest, NamelessEmptyAndLateHooksAreRefused) {
  EXPECT_EQ(hooks.add(PostStartHookEntry{"", ok, "x"}).message(), "missing name");
  EXPECT_EQ(hooks.add(PostStartHookEntry{"a", {}, "x"}).message(), "hook func may not be nil: \"a\"");
  hooks.start(tasks, on_loop, stop);
  EXPECT_EQ(hooks.add(PostStartHookEntry{"a", ok, "x"}).message(), "unable to add \"a\" because PostStartHooks have already been called");
  EXPECT_TRUE(run_on(loop, hooks.run_pre_shutdown(tasks, on_loop, std::chrono::seconds(10))).ok());
  EXPECT_EQ(hooks.add(PreShutdownHookEntry{"a", pre_ok, "x"}).message(),
            "unable to add \"a\" because PreShutdownHooks have already been called");
}

TEST_F(HookTest, TheCheckOfAHookIsRedUntilItHasReturned) {
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"quick", ok, "x"}).ok());
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"slow", until_stop, "x"}).ok());
  auto checks = hooks.health_checks();
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1]->name(), "poststarthook/slow");
  EXPECT_FALSE(run_on(loop, check(*checks[1])).ok());
  hooks.start(tasks, on_loop, stop);
  EXPECT_FALSE(hooks.all_done().fired());
  EXPECT_FALSE(run_on(loop, check(*checks[1])).ok());
  stop.fire();
  run_on(loop, wait(hooks.all_done()));
  EXPECT_TRUE(run_on(loop, check(*checks[0])).ok());
  EXPECT_TRUE(run_on(loop, check(*checks[1])).ok());
}

TEST_F(HookTest, AFailedHookEndsTheProcessWithItsName) {
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"bad", fails, "x"}).ok());
  hooks.start(tasks, on_loop, stop);
  run_on(loop, wait(died));
  EXPECT_TRUE(last_output.starts_with("PostStartHook \"bad\" failed: ")) << last_output;
  EXPECT_TRUE(last_output.ends_with(" (registered by x)")) << last_output;
  EXPECT_NE(last_output.find("no store"), std::string::npos);
  EXPECT_FALSE(hooks.all_done().fired());
}

TEST_F(HookTest, AnOptionalHookThatFailsLeavesTheServerRunningAndItsCheckRed) {
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"bad", fails, "optional"}).ok());
  ASSERT_TRUE(hooks.add(PostStartHookEntry{"good", ok, "x"}).ok());
  const auto checks = hooks.health_checks();
  hooks.start(tasks, on_loop, stop);
  run_on(loop, wait(hooks.all_done()));
  EXPECT_FALSE(died.fired());
  EXPECT_EQ(run_on(loop, check(*checks[0])).message(), "failed");
  EXPECT_TRUE(run_on(loop, check(*checks[1])).ok());
}

TEST_F(HookTest, PreShutdownHooksAllRunAndTheirErrorsComeTogether) {
  int runs = 0;
  ASSERT_TRUE(hooks.add(PreShutdownHookEntry{"a", pre_fails, "x"}).ok());
  ASSERT_TRUE(hooks.add(PreShutdownHookEntry{"b", [&runs] { return ++runs, pre_ok(); }, "x"}).ok());
  ASSERT_TRUE(hooks.add(PreShutdownHookEntry{"c", pre_fails, "x"}).ok());
  Status status = run_on(loop, hooks.run_pre_shutdown(tasks, on_loop, std::chrono::seconds(10)));
  EXPECT_EQ(runs, 1);
  EXPECT_NE(status.message().find("PreShutdownHook \"a\" failed: "), std::string::npos);
  EXPECT_NE(status.message().find("PreShutdownHook \"c\" failed: "), std::string::npos);
}

TEST_F(HookTest, APreShutdownHookThatDoesNotEndIsAnErrorAndDelaysNoOther) {
  NamedSignal never{"never"};
  struct Wait {
    static Task<Status> forever(Signal& signal) {
      co_await signal.wait();
      co_return Status();
    }
  };
  int runs = 0;
  ASSERT_TRUE(hooks.add(PreShutdownHookEntry{"stuck", [&never] { return Wait::forever(never); }, "x"}).ok());
  ASSERT_TRUE(hooks.add(PreShutdownHookEntry{"next", [&runs] { return ++runs, pre_ok(); }, "x"}).ok());
  const Status status = run_on(loop, hooks.run_pre_shutdown(tasks, on_loop, std::chrono::milliseconds(20)));
  EXPECT_EQ(runs, 1);
  EXPECT_NE(status.message().find("PreShutdownHook \"stuck\" failed: it has not ended in time"), std::string::npos) << status.message();
  never.fire();
  tasks.close();
  run_on(loop, tasks.wait_all());
}

// ---- the process

TEST(StopEvent, TheFirstSignalIsAnOrdinaryStop) {
  StopEvent stop;
  stop.install_signal_handlers();
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    stop.wait();
    returned = true;
  });
  EXPECT_FALSE(returned) << "no process has connected yet";
  raise(SIGTERM);
  waiter.join();
  EXPECT_TRUE(returned);
}

void two_signals() {
  StopEvent stop;
  stop.install_signal_handlers();
  raise(SIGTERM);
  raise(SIGINT);
}

TEST(StopEventDeathTest, TheSecondSignalEndsTheProcessAtOnceWithOne) { EXPECT_EXIT(two_signals(), ::testing::ExitedWithCode(1), ""); }

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "backplane-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(DataDir, IsPrivateAndForOneInstance) {
  TemporaryDirectory directory;
  const std::string data_dir = directory.path() + "/a/b";
  ASSERT_TRUE(make_private_directory(data_dir).ok());
  struct stat info {};
  ASSERT_EQ(stat(data_dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  {
    auto first = DataDirLock::take(data_dir);
    ASSERT_TRUE(first.ok());
    auto second = DataDirLock::take(data_dir);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().reason(), Reason::kConflict);
    EXPECT_NE(second.status().message().find("is in use by another instance (process " + std::to_string(getpid()) + ")"),
              std::string::npos);
  }
  EXPECT_TRUE(DataDirLock::take(data_dir).ok());
}

TEST(DataDir, ComesFromTheEnvironment) {
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(*default_data_dir(), "/state/backplane");
  setenv("XDG_STATE_HOME", "relative", 1);
  setenv("HOME", "/home/x", 1);
  EXPECT_EQ(*default_data_dir(), "/home/x/.local/state/backplane");
  unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(*default_data_dir(), "/home/x/.local/state/backplane");
}

TEST(ServiceManager, NotifiesTheSocketAndUnsetsIt) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/notify";
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  setenv("WATCHDOG_USEC", "5000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  setenv("LISTEN_PID", "1", 1);  // of another process
  setenv("LISTEN_FDS", "1", 1);
  auto manager = ServiceManager::from_environment();
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS"}) EXPECT_EQ(getenv(name), nullptr);
  EXPECT_TRUE(manager.present());
  EXPECT_EQ(manager.watchdog(), std::chrono::seconds(5));
  const auto listener = manager.take_listener();
  ASSERT_TRUE(listener.ok());
  EXPECT_FALSE(listener->valid());
  EXPECT_TRUE(manager.notify("READY=1\n").ok());
  char text[32] = {};
  EXPECT_EQ(recv(fd, text, sizeof text, 0), 8);
  EXPECT_STREQ(text, "READY=1\n");
  const auto none = ServiceManager::from_environment();
  EXPECT_FALSE(none.present());
  EXPECT_EQ(none.watchdog(), std::chrono::seconds(0));
  EXPECT_TRUE(none.notify("READY=1\n").ok());
  close(fd);
}

TEST(LoadProgress, IsReportedUntilEverythingIsLoaded) {
  IoLoop loop("loop");
  loop.start();
  std::counting_semaphore<> looks(0);
  std::vector<std::string> reports;
  std::size_t loaded = 0;
  const auto look = [&] {
    ++loaded;
    looks.release();
    return LoadState{loaded * 1000, 0, loaded < 3 ? std::vector<std::string>{"/registry/pods/"} : std::vector<std::string>()};
  };
  report_loading(
      loop, look, [&](const std::string& text) { reports.push_back(text); }, std::chrono::milliseconds(1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(looks.try_acquire_for(std::chrono::seconds(60)));
  EXPECT_FALSE(looks.try_acquire_for(std::chrono::milliseconds(100)));  // it has ended
  loop.stop();
  EXPECT_EQ(reports,
            (std::vector<std::string>{"loading objects: 1000 loaded, 1 types left", "loading objects: 2000 loaded, 1 types left"}));
}

TEST(Watchdog, PingsOnlyWhileEveryLoopRuns) {
  IoLoop first("first"), second("second");
  first.start();
  second.start();
  std::counting_semaphore<> pings(0);
  Watchdog watchdog({&first, &second, &first}, std::chrono::milliseconds(1), [&] { pings.release(); });
  watchdog.start();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pings.try_acquire_for(std::chrono::seconds(60)));
  std::binary_semaphore hanging(0), released(0);
  second.post([&] {
    hanging.release();
    released.acquire();
  });
  hanging.acquire();
  // One ping may have passed the hanging loop already.
  while (pings.try_acquire_for(std::chrono::milliseconds(200))) {
  }
  EXPECT_FALSE(pings.try_acquire_for(std::chrono::milliseconds(200)));
  released.release();
  EXPECT_TRUE(pings.try_acquire_for(std::chrono::seconds(60)));
  watchdog.stop();
  first.stop();
  second.stop();
}

TEST(Kubeconfig, HoldsEverythingKubectlNeeds) {
  const std::string text = make_kubeconfig({"https://127.0.0.1:6443", "ca", "cert", "key"});
  EXPECT_NE(text.find("    server: https://127.0.0.1:6443\n"), std::string::npos);
  EXPECT_NE(text.find("    certificate-authority-data: Y2E=\n"), std::string::npos);
  EXPECT_NE(text.find("    client-certificate-data: Y2VydA==\n"), std::string::npos);
  EXPECT_NE(text.find("    client-key-data: a2V5\n"), std::string::npos);
  EXPECT_NE(text.find("current-context: kubernetes-admin@backplane\n"), std::string::npos);
}

}  // namespace
}  // namespace backplane
