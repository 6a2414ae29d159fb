#include "app/profile_handlers.hpp"

#include <algorithm>
#include <charconv>

#include "app/profile_texts.hpp"
#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "http/gzip.hpp"
#include "profiling/cpu_profiler.hpp"
#include "profiling/heap_profile.hpp"
#include "profiling/lock_waits.hpp"
#include "profiling/thread_stacks.hpp"

namespace backplane {
namespace {

using profiling::Profile;
using profiling::Symbols;
using profiling::ThreadStack;

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kBinary = "application/octet-stream";
constexpr std::chrono::milliseconds kStackTimeout{200};
constexpr std::size_t kMostSymbolBytes = 1 << 20;

Task<void> send(Exchange& exchange, int code, std::string_view type, std::string text) {
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, type, std::move(body));
}
Task<void> refuse(Exchange& exchange, int code, std::string message) {
  exchange.set_response_header("X-Go-Pprof", "1");
  return send(exchange, code, kPlainText, std::move(message) + "\n");
}
Task<void> send_profile(Exchange& exchange, const std::string& name, std::string encoded) {
  exchange.set_response_header("Content-Disposition", "attachment; filename=\"" + name + "\"");
  GzipStream gzip;
  std::string compressed = gzip.add(encoded);
  compressed += gzip.end();
  return send(exchange, 200, kBinary, std::move(compressed));
}

// Parses the query here, because the filters that parse it do not run on the debug socket.
Query query_of(const Exchange& exchange) {
  const std::string_view target = exchange.target();
  const auto mark = target.find('?');
  Status ignored;
  return mark == std::string_view::npos ? Query() : parse_query_leniently(target.substr(mark + 1), ignored);
}

std::int64_t number_of(const Query& query, std::string_view key) {
  const std::string_view text = query_get(query, key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

// ---- profiles of one moment

// The functions of a profile; they run on the pool for blocking calls.
struct Snapshot {
  std::string (*encode)(const std::vector<Activity>& activities);
  std::string (*text)(const std::vector<Activity>& activities, int debug);
};

std::string encoded(const Profile& profile) {
  Symbols symbols;
  return profile.encode(symbols);
}

std::string heap_encoded(const std::vector<Activity>&) { return encoded(profiling::heap_profile(profiling::malloc_report())); }
std::string heap_text(const std::vector<Activity>&, int) { return profiling::malloc_report(); }

std::string stacks_encoded(const std::vector<Activity>& activities) {
  Profile profile(std::vector<profiling::SampleType>{{"goroutine", "count"}});
  for (const ThreadStack& thread : profiling::thread_stacks(kStackTimeout)) {
    profile.add_stack(thread.stack, {1}, {{"thread", thread.name}});
  }
  for (const Activity& activity : activities) profile.add_names({activity.name, activity.kind}, {activity.count});
  profile.set_comment("Stacks of threads, and the number of requests and tasks in progress by name.");
  return encoded(profile);
}
std::string stacks_text(const std::vector<Activity>& activities, int debug) {
  const auto threads = profiling::thread_stacks(kStackTimeout);
  return debug == 1 ? stacks_by_count(threads, activities) : stacks_by_thread(threads, activities);
}

std::string threads_encoded(const std::vector<Activity>&) {
  Profile profile({{"cpu", "milliseconds"}, {"threadcreate", "count"}});
  for (const ThreadStack& thread : profiling::list_threads()) profile.add_names({thread.name}, {thread.processor_time.count(), 1});
  return encoded(profile);
}
std::string threads_text(const std::vector<Activity>&, int) { return thread_lines(profiling::list_threads()); }

std::string contention_encoded(const std::vector<Activity>&) { return encoded(profiling::lock_wait_profile()); }
std::string contention_text(const std::vector<Activity>&, int) {
  return profiling::records_lock_waits() ? waits_by_stack(profiling::lock_waits())
                                         : "--- contention:\nwaits for locks are recorded with --contention-profiling only\n";
}

class SnapshotHandler final : public HttpHandler {
 public:
  SnapshotHandler(std::string name, Snapshot profile, Activities activities)
      : name_(std::move(name)), profile_(profile), activities_(std::move(activities)) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    const Query query = query_of(exchange);
    if (!query_get(query, "seconds").empty()) {
      auto refusing = refuse(exchange, 400, "\"seconds\" parameter is not supported for this profile type");
      co_await std::move(refusing);
      co_return;
    }
    const auto debug = static_cast<int>(number_of(query, "debug"));
    const auto activities = activities_ ? activities_() : std::vector<Activity>();
    std::string out;
    auto making = run_blocking([&] { out = debug == 0 ? profile_.encode(activities) : profile_.text(activities, debug); });
    co_await std::move(making);
    auto sending = debug == 0 ? send_profile(exchange, name_, std::move(out)) : send(exchange, 200, kPlainText, std::move(out));
    co_await std::move(sending);
  }

 private:
  const std::string name_;
  const Snapshot profile_;
  const Activities activities_;
};

// ---- processor time

class ProcessorProfileHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    const Query query = query_of(exchange);
    const std::int64_t asked = number_of(query, "seconds");
    const std::chrono::seconds length(asked > 0 ? asked : 30);
    profiling::CpuProfiler profiler;
    if (Status status = profiler.start(); !status.ok()) {
      auto refusing = refuse(exchange, 500, "Could not enable CPU profiling: " + status.message());
      co_await std::move(refusing);
      co_return;
    }
    Profile profile({{"samples", "count"}, {"cpu", "nanoseconds"}});
    profile.set_period({"cpu", "nanoseconds"}, profiling::CpuProfiler::kPeriod.count());
    co_await record(profiler, profile, length, exchange);
    std::string out;
    auto encoding = run_blocking([&] { out = encoded(profile); });
    co_await std::move(encoding);
    auto sending = send_profile(exchange, "profile", std::move(out));
    co_await std::move(sending);
  }

 private:
  // Records until the time is over or the client has disconnected.
  static Task<void> record(profiling::CpuProfiler& profiler, Profile& profile, std::chrono::seconds length, Exchange& exchange) {
    constexpr std::chrono::milliseconds kStep(100);
    const auto began = std::chrono::system_clock::now();
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - start; };
    while (passed() < length && !exchange.closed()) {
      const auto rest = std::min<std::chrono::nanoseconds>(kStep, length - passed());
      co_await sleep_for(std::max(rest, std::chrono::nanoseconds(0)));
      auto collecting = run_blocking([&] { profiler.collect(profile); });
      co_await std::move(collecting);
    }
    profile.set_times(began, passed());
    if (profiler.lost() > 0) profile.set_comment(std::to_string(profiler.lost()) + " samples were lost");
    profiler.stop();
  }
};

// ---- the rest

class SymbolHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    std::string addresses;
    if (exchange.method() == "POST") {
      auto body = co_await exchange.read_body(kMostSymbolBytes);
      if (body.ok()) addresses = std::move(*body);
    } else if (const auto query = exchange.target().find('?'); query != std::string_view::npos) {
      addresses = exchange.target().substr(query + 1);
    }
    std::string out;
    auto naming = run_blocking([&] { out = symbol_lines(addresses); });
    co_await std::move(naming);
    auto sending = send(exchange, 200, kPlainText, std::move(out));
    co_await std::move(sending);
  }
};

class ProfileTextHandler final : public HttpHandler {
 public:
  ProfileTextHandler(int code, std::string (*text)()) : code_(code), text_(text) {}
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    std::string text = text_();
    auto sending = code_ == 200 ? send(exchange, code_, kPlainText, std::move(text)) : refuse(exchange, code_, std::move(text));
    co_await std::move(sending);
  }

 private:
  const int code_;
  std::string (*const text_)();
};

class ProfileRedirectHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    exchange.set_response_header("Location", "/debug/pprof/");
    auto sending = send(exchange, 302, kPlainText, {});
    co_await std::move(sending);
  }
};

struct SnapshotRow {
  std::string_view name;
  Snapshot profile;
};
constexpr SnapshotRow kSnapshots[] = {
    {"allocs", {heap_encoded, heap_text}},
    {"block", {contention_encoded, contention_text}},
    {"goroutine", {stacks_encoded, stacks_text}},
    {"heap", {heap_encoded, heap_text}},
    {"mutex", {contention_encoded, contention_text}},
    {"threadcreate", {threads_encoded, threads_text}},
};

std::string no_trace() { return "Could not enable tracing: execution traces exist only in Go's runtime; use profile or goroutine"; }
std::string unknown_profile() { return "Unknown profile"; }
std::string all_threads() { return thread_lines(profiling::list_threads()); }

}  // namespace

std::vector<PathRoute> profile_routes(Activities activities, bool on_socket) {
  const std::string root = "/debug/pprof/";
  std::vector<PathRoute> routes;
  const auto add = [&](std::string path, std::shared_ptr<HttpHandler> handler, bool prefix = false) {
    routes.push_back({std::move(path), prefix, false, std::move(handler)});
  };
  const auto add_text = [&](std::string path, int code, std::string (*text)()) {
    add(std::move(path), std::make_shared<ProfileTextHandler>(code, text));
  };
  for (const auto& [name, profile] : kSnapshots) {
    add(root + std::string(name), std::make_shared<SnapshotHandler>(std::string(name), profile, activities));
  }
  add(root + "profile", std::make_shared<ProcessorProfileHandler>());
  add(root + "symbol", std::make_shared<SymbolHandler>());
  add_text(root, 200, profile_index);
  add_text(root + "threads", 200, all_threads);
  add_text(root + "trace", 501, no_trace);
  if (on_socket) add_text(root + "cmdline", 200, command_line);
  if (!on_socket) add(root, std::make_shared<ProfileTextHandler>(404, unknown_profile), true);
  add("/debug/pprof", std::make_shared<ProfileRedirectHandler>());
  return routes;
}

}  // namespace backplane
