// backplane-bench-plugin-calls [ROW CALLS]: the nanoseconds of a call of a plugin in the server's process, directly and as the host calls
// it.  With ROW and CALLS, it only makes CALLS calls of the row with that number, to be counted by valgrind.
//
// The host adds two things to a call: the fence (base/fenced.hpp) converts an exception to a value; the hold (base/hold.hpp) is a reference
// that keeps the plugin loaded.  A request takes the hold once, for all its calls.  A plugin of the stable tier is called through the
// bridge (host/stable), which also converts the request to the C structs of the plugin.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backplane/kit/published.hpp"
#include "base/fenced.hpp"
#include "base/hold.hpp"
#include "fake_host.hpp"
#include "plugin_calls_callee.hpp"
#include "stable/bridge.hpp"
#include "stable/users.hpp"

namespace {

using namespace backplane;

constexpr int kCalls = 1'000'000, kRounds = 15;

// The CPU time of this thread; unlike elapsed time, it does not include that of other processes.
double spent_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// A way to make the calls, which is a row of the output.
struct Row {
  const char* what;
  std::function<void(int count)> calls;
};

// The nanoseconds of one call, in the fastest of the rounds.
double nanoseconds(const Row& row) {
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = spent_nanoseconds();
    row.calls(kCalls);
    least = std::min(least, (spent_nanoseconds() - begin) / kCalls);
  }
  return least;
}

// Prevents the compiler from moving or removing the computation of `value`.
template <class T>
void use(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

AuthorizerResult failed(const Caught& error) { return {Decision::kNoOpinion, "", Status(Reason::kInternalError, error.what)}; }

// Makes a bp_access as host/stable does for an authorizer.
bp_access access_of(const RequestView& request, const bp_user* user) {
  using stable::str;
  return {sizeof(bp_access),        user,
          str(request.verb),        request.resource_request ? 1 : 0,
          str(request.path),        str(request.api_group),
          str(request.api_version), str(request.ns),
          str(request.resource),    str(request.subresource),
          str(request.name)};
}

struct BenchHost final : test::FakeHost {
  Status register_authorizer(std::shared_ptr<Authorizer> given) override {
    authorizer = std::move(given);
    return {};
  }
  std::shared_ptr<Authorizer> authorizer;
};

class Calls {
 public:
  Calls();
  // Each function returns the rows of one kind of call; the first row is the direct call.
  std::vector<Row> native(), waiting(), stable_tier();

 private:
  std::optional<AuthorizerResult> fenced_call(const Authorizer& authorizer) const {
    return fenced_now([&] { return authorizer.decide_now(request_); },
                      [](const Caught& error) -> std::optional<AuthorizerResult> { return failed(error); });
  }
  Task<void> wait_directly(int count) {
    for (int i = 0; i < count; ++i) {
      auto asking = waiting_->authorize(attributes_);
      use(co_await std::move(asking));
    }
  }
  Task<void> wait_fenced(int count) {
    for (int i = 0; i < count; ++i) {
      auto asking = fenced<AuthorizerResult>([this] { return waiting_->authorize(attributes_); }, failed);
      use(co_await std::move(asking));
    }
  }

  const AuthorizationAttributes attributes_ = wanted();
  const RequestView request_{attributes_};
  // The deleter does nothing; that of a loaded plugin reports that the last reference is gone.
  const Hold hold_{static_cast<const void*>(this), [](const void*) {}};
  const std::shared_ptr<Authorizer> quick_ = tied(hold_, bench::quick_authorizer());
  const std::shared_ptr<Authorizer> waiting_ = tied(hold_, bench::waiting_authorizer());
  using List = std::vector<std::shared_ptr<Authorizer>>;
  const kit::Published<List> published_{std::make_shared<const List>(List{quick_})};
  test::TurnExecutor executor_;
  BenchHost host_;
  const std::unique_ptr<Plugin> plugin_ = stable::make_plugin(bench::stable_plugin(), "bench", {});

  static AuthorizationAttributes wanted();
};

Calls::Calls() {
  if (Status status = plugin_->provision(host_); !status.ok()) throw std::runtime_error(std::string(status.message()));
}

AuthorizationAttributes Calls::wanted() {
  AuthorizationAttributes out;
  UserInfo user;
  user.name = "jane";
  user.groups = {"devs", "system:authenticated"};
  out.user = UserRef(std::move(user));
  out.verb = "get";
  out.resource_request = true;
  out.resource = "pods";
  out.ns = "default";
  out.name = "a";
  return out;
}

std::vector<Row> Calls::native() {
  return {{"a direct call of decide_now()",
           [this](int count) {
             for (int i = 0; i < count; ++i) use(quick_->decide_now(request_));
           }},
          {"with the fence, as a request makes it",
           [this](int count) {
             for (int i = 0; i < count; ++i) use(fenced_call(*quick_));
           }},
          {"with the fence, and a hold for this call alone",
           [this](int count) {
             for (int i = 0; i < count; ++i) {
               const std::shared_ptr<Authorizer> held = quick_;
               use(fenced_call(*held));
             }
           }},
          {"with the fence, and the published list taken for this call alone", [this](int count) {
             for (int i = 0; i < count; ++i) {
               const auto list = published_.get();
               use(fenced_call(*list->front()));
             }
           }}};
}

std::vector<Row> Calls::waiting() {
  return {{"co_await of authorize(), which ends at once", [this](int count) { executor_.start(wait_directly(count)); }},
          {"with the fence", [this](int count) { executor_.start(wait_fenced(count)); }}};
}

std::vector<Row> Calls::stable_tier() {
  return {{"a direct call of decide() of the stable tier",
           [](int count) {
             bp_access access{};
             bp_error error{};
             for (int i = 0; i < count; ++i) use(bench::decide(nullptr, &access, nullptr, &error));
           }},
          {"with the user and the attributes as views of the request",
           [this](int count) {
             bp_output reason;
             bp_error error{};
             for (int i = 0; i < count; ++i) {
               const stable::SeenUser user(request_.user);
               const bp_access access = access_of(request_, user.table());
               use(bench::decide(nullptr, &access, &reason, &error));
             }
           }},
          {"through the bridge, with the fence", [this](int count) {
             for (int i = 0; i < count; ++i) use(fenced_call(*host_.authorizer));
           }}};
}

void measure(const std::vector<Row>& rows, int& number) {
  double direct = 0;
  for (const Row& row : rows) {
    const double spent = nanoseconds(row);
    if (&row == &rows.front()) direct = spent;
    std::printf("%3d %8.1f %8.1f  %s\n", number++, spent, spent - direct, row.what);
  }
}

// A second thread that does nothing.  While a process has only one thread, the reference counts of std::shared_ptr are not atomic, and so
// cheaper than in a server.
class SecondThread {
 public:
  SecondThread() : thread_([this] { ended_.acquire(); }) {}
  ~SecondThread() {
    ended_.release();
    thread_.join();
  }

 private:
  std::binary_semaphore ended_{0};
  std::thread thread_;
};

}  // namespace

int main(int count, char** arguments) {
  const SecondThread second;
  Calls calls;
  const std::vector<std::vector<Row>> kinds = {calls.native(), calls.waiting(), calls.stable_tier()};
  if (count == 3) {
    std::vector<Row> all;
    for (const auto& rows : kinds) all.insert(all.end(), rows.begin(), rows.end());
    all.at(static_cast<std::size_t>(std::atoi(arguments[1]))).calls(std::atoi(arguments[2]));
    return 0;
  }
  int number = 0;
  std::printf("row ns a call     more\n");
  for (const auto& rows : kinds) measure(rows, number);
  return 0;
}
