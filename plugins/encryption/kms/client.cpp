#include "kms/client.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "backplane/core/query.hpp"
#include "backplane/net/grpc.hpp"
#include "metrics.hpp"

namespace backplane::encryption {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{20}, kLongestPause{500};
constexpr std::string_view kScheme = "unix:", kAbstract = "/@";

Failure failure_of(const grpc::CallStatus& status) { return Failure{grpc::to_text(status), grpc::code_name(status.code)}; }

Failure out_of_time(const std::string& why) {
  std::string text = "context deadline exceeded";
  if (!why.empty()) {
    text +=
        " while waiting for connections to become ready: last connection error: connection error: desc = \"transport: Error while "
        "dialing: " +
        why + "\"";
  }
  return failure_of({grpc::Code::kDeadlineExceeded, std::move(text)});
}

// Connects to a socket of Linux's abstract namespace: "@name".
Task<Result<int>> dial_abstract(std::string name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() > sizeof address.sun_path) co_return service_unavailable("dial unix " + name + ": connect: invalid argument");
  name.copy(address.sun_path, name.size());
  address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) co_return socket;
  const std::error_code error(errno, std::generic_category());
  if (socket >= 0) ::close(socket);
  co_return service_unavailable("dial unix " + name + ": connect: " + error.message());
}

}  // namespace

Task<Outcome<std::string>> KmsClient::call(std::string method, std::string request) const {
  const auto begin = Clock::now();
  auto calling = call_until(method, std::move(request), begin + std::chrono::duration_cast<Clock::duration>(timeout_));
  auto answer = co_await std::move(calling);
  if (!provider_.empty()) observe_kms_call(provider_, method, Clock::now() - begin, answer.ok() ? "OK" : answer.failure().code());
  co_return answer;
}

Task<Outcome<std::string>> KmsClient::call_until(std::string method, std::string request, Clock::time_point deadline) const {
  Clock::duration pause = kFirstPause;
  for (;;) {
    grpc::CallOptions options;
    options.deadline = deadline;
    auto calling = grpc::unary(http_, method, request, std::move(options));
    grpc::UnaryAnswer answer = co_await std::move(calling);
    if (answer.status.ok()) co_return std::move(answer.message);
    if (answer.status.code == grpc::Code::kDeadlineExceeded && Clock::now() >= deadline) co_return out_of_time({});
    if (!answer.status.never_sent) co_return failure_of(answer.status);
    const auto left = deadline - Clock::now();
    if (left <= pause) co_return out_of_time(answer.status.message);
    auto waiting = sleep_for(pause);
    co_await std::move(waiting);
    pause = std::min<Clock::duration>(pause * 2, kLongestPause);
  }
}

std::string socket_path(std::string_view endpoint) {
  std::string_view rest = endpoint.substr(std::min(kScheme.size(), endpoint.size()));
  rest = rest.substr(0, rest.find_first_of("?#"));
  if (rest.starts_with("//")) rest = rest.substr(std::min(rest.find('/', 2), rest.size()));
  std::string path = percent_decode(rest, false);
  return path.starts_with(kAbstract) ? path.substr(1) : path;
}

Outcome<KmsClientRef> make_kms_client(Host& host, std::string_view endpoint, std::string provider, std::chrono::nanoseconds timeout) {
  std::string path = socket_path(endpoint);
  ClientConfig config;
  config.server = "unix://" + path;
  if (path.starts_with('@')) {
    config.server = "http://localhost";
    config.dial = [path](std::string) { return dial_abstract(path); };
  }
  config.http2_prior_knowledge = true;
  config.user_agent = "grpc-c++/backplane";
  auto http = host.make_client(std::move(config));
  if (!http.ok()) return Failure{http.status().message()};
  return KmsClientRef(std::make_shared<KmsClient>(std::move(*http), path, std::move(provider), timeout));
}

}  // namespace backplane::encryption
