#include "discovery_check.hpp"

#include <backplane/net/proxy.hpp>

namespace backplane {
namespace {

constexpr int kAttempts = 5;
constexpr std::chrono::seconds kAttemptTime{5};

struct Round {
  int left = kAttempts;
  bool good = false;
  std::string last_problem;
  Promise<bool> settled;

  void add(std::string problem) {
    good = good || problem.empty();
    last_problem = std::move(problem);
    if (--left == 0 || good) settled.set(true);
  }
};

HttpCall discovery_call(const RemoteTarget& target) {
  // system:masters is never refused, so the check depends on the server alone and not on its authorization.
  UserInfo aggregator;
  aggregator.name = "system:kube-aggregator";
  aggregator.groups = {"system:masters"};
  HttpCall call;
  call.target = target.version.path();
  call.headers = identity_headers(aggregator);
  call.deadline = std::chrono::steady_clock::now() + kAttemptTime;
  return call;
}

Task<std::string> ask(std::shared_ptr<RemoteBackend> backend) {
  auto resolving = backend->resolve();
  Result<std::string> address = co_await std::move(resolving);
  if (!address.ok()) co_return address.status().message();
  auto client = backend->client(*address);
  if (!client.ok()) co_return client.status().message();
  const std::string url = "https://" + *address + backend->target().version.path();
  auto calling = (*client)->call(discovery_call(backend->target()));
  auto answer = co_await std::move(calling);
  std::string problem;
  if (!answer.ok()) {
    problem = "Get " + quoted(url) + ": " + answer.status().message();
    if (answer.status().reason() == Reason::kTimeout) problem += " (Client.Timeout exceeded while awaiting headers)";
  } else if ((*answer)->code() < 200 || (*answer)->code() >= 300) {
    problem = "bad status from " + url + ": " + std::to_string((*answer)->code());
  }
  if (problem.empty()) co_return problem;
  backend->forget(*address);
  co_return "failing or missing response from " + url + ": " + problem;
}

// The result of an attempt. The destructor reports it, so that an attempt that is dropped before its end, for example because the server
// stops, is counted, too.
struct Ending {
  explicit Ending(std::shared_ptr<Round> of) : round(std::move(of)) {}
  Ending(Ending&&) = default;
  ~Ending() {
    if (round) round->add(std::move(problem));
  }
  std::shared_ptr<Round> round;
  std::string problem = "the server is stopping";
};

Task<void> attempt(std::shared_ptr<RemoteBackend> backend, Ending ending) {
  auto asking = ask(std::move(backend));
  std::string problem = co_await std::move(asking);
  ending.problem = std::move(problem);
}

}  // namespace

Task<std::string> discovery_problem(Host& host, std::shared_ptr<RemoteBackend> backend) {
  const auto round = std::make_shared<Round>();
  for (int i = 0; i < kAttempts; ++i) host.spawn("apiservice-availability-attempt", attempt(backend, Ending(round)));
  auto settling = round->settled.future();
  bool settled = co_await settling;
  static_cast<void>(settled);
  co_return round->good ? std::string() : round->last_problem;
}

}  // namespace backplane
