// The servers of an etcd cluster: selects the server for each call, and makes calls as tasks.
//
// Thread-safety: any thread.
// Lifetime:      stop() returns after every call has ended, including waiting retries; call it before the destructor.
// Errors:        as translation.hpp translates them; kServiceUnavailable after stop().
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "backplane/net/grpc.hpp"
#include "call_counts.hpp"
#include "connections.hpp"
#include "translation.hpp"

namespace backplane::etcd {

// The limit of a response, of gRPC and of protobuf; etcd's own clients accept as much.
inline constexpr std::size_t kMaxMessage = 0x7fffffff;
// Room in a serialized request for the prefix that gRPC inserts, so that the request is not copied for it.
inline constexpr std::size_t kFrameRoom = 8;

class Cluster {
 public:
  // The time limit of a call with all its attempts.  A write without a response may still have happened.
  static constexpr std::chrono::seconds kPatience{10};
  // A call that etcd refuses because it has no leader is retried for this time: a leader is elected within about a second.
  static constexpr std::chrono::milliseconds kElection{2'500};
  // The limits of one of several attempts: for the response to a read, and for the connection of any call.
  static constexpr std::chrono::milliseconds kTry{3'000}, kReach{500};

  explicit Cluster(std::vector<Server> servers) : servers_(std::move(servers)) {}
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() { close(); }

  // The current server.
  const Server& server() const noexcept { return servers_[current_.load(std::memory_order_relaxed) % servers_.size()]; }
  // `failed` did not respond: calls use the next server from now on.
  void pass_over(const Server& failed);
  std::size_t size() const noexcept { return servers_.size(); }
  const std::vector<Server>& servers() const noexcept { return servers_; }
  CallCounts& counts() noexcept { return counts_; }
  // A stream has received a response.
  void note_answer() { note_end(CallStatus()); }
  // `reached` is called when a server responds after one could not be reached, on the executor of that call.  Set it before the first call.
  void when_reached(std::function<void()> reached) { reached_ = std::move(reached); }

  // One call (`What`: of calls.hpp).  A call that a server has not accepted goes to the next one; a read also does so if the server is
  // not available.  While etcd elects a leader both are retried, with pauses.
  template <class What>
  Task<Result<typename What::Response>> call(typename What::Request request, bool reads, std::chrono::milliseconds patience = kPatience);

  // One call to this server only, even if it has no leader.
  template <class What>
  Task<Result<typename What::Response>> ask(const Server& server, typename What::Request request, std::chrono::milliseconds patience);

  // Ends running calls, refuses new ones.
  void close();
  // The same, and waits for the running calls.
  Task<void> stop();
  bool stopping() const noexcept { return stopping_.load(); }

  // stop() waits until all of them are destroyed.
  class Turn {
   public:
    explicit Turn(Cluster& cluster);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    bool entered() const noexcept { return entered_; }
    // By which close() ends the next call.
    std::shared_ptr<CallBreaker> next_breaker();

   private:
    friend class Cluster;
    Cluster& cluster_;
    bool entered_ = false;
    bool breaker_used_ = false;
    // With the cluster's mutex:
    std::shared_ptr<CallBreaker> breaker_;  // that of the first call is made with the turn
    Turn *before_ = nullptr, *after_ = nullptr;
  };

 private:
  using Clock = std::chrono::steady_clock;
  // The time limit for one server: an unsent call, or a read, can go to another server in time.  The last server gets the rest of the
  // time.
  struct Patience {
    std::chrono::milliseconds answer, connection;
  };
  Patience patience_of_try(bool reads, std::size_t tries, std::chrono::milliseconds left) const noexcept {
    if (tries >= size()) return {left, left};
    return {reads ? std::min(left, kTry) : left, std::min(left, kReach)};
  }
  // Whether a call with this result of `asked` is retried, and after which pause.
  std::optional<std::chrono::milliseconds> again(const CallStatus& status, const Server& asked, bool reads, std::size_t tries,
                                                 Clock::duration so_far);
  void note_end(const CallStatus& status);
  static grpc::CallOptions options_of(Patience patience, bool needs_leader, Turn& turn);
  // One attempt of a call; end() takes its result. Not a coroutine, because a frame for each attempt would cost more than both.
  template <class What>
  Task<grpc::UnaryAnswer> begin(const Server& server, const typename What::Request& request, grpc::CallOptions&& options);
  template <class What>
  CallStatus end(grpc::UnaryAnswer&& answer, typename What::Response& response);

  const std::vector<Server> servers_;
  CallCounts counts_;
  std::function<void()> reached_;
  std::atomic<std::size_t> current_{0};
  std::atomic<bool> away_{false};  // a server could not be reached, and none has responded since
  std::atomic<bool> stopping_{false}, waited_for_{false};
  std::mutex mutex_;
  Turn* turns_ = nullptr;
  Promise<bool> idle_;  // set when the last call has ended after stop()
};

template <class What>
Task<grpc::UnaryAnswer> Cluster::begin(const Server& server, const typename What::Request& request, grpc::CallOptions&& options) {
  counts_.started(What::kMethod);
  counts_.sent(What::kMethod);
  std::string bytes;
  bytes.reserve(request.ByteSizeLong() + kFrameRoom);
  request.AppendToString(&bytes);
  return grpc::unary(server.client, std::string(What::kMethod.path), std::move(bytes), std::move(options));
}

template <class What>
CallStatus Cluster::end(grpc::UnaryAnswer&& answer, typename What::Response& response) {
  if (answer.status.ok()) counts_.received(What::kMethod);
  if (answer.status.ok() && !response.ParseFromString(answer.message)) answer.status = {Code::kInternal, "etcd's response is malformed"};
  counts_.handled(What::kMethod, answer.status);
  note_end(answer.status);
  return std::move(answer.status);
}

template <class What>
Task<Result<typename What::Response>> Cluster::call(typename What::Request request, bool reads, std::chrono::milliseconds patience) {
  Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  const auto begun = Clock::now();
  for (std::size_t tries = 1;; ++tries) {
    const Server& asked = server();
    typename What::Response response;
    const auto so_far = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    auto asking = begin<What>(asked, request, options_of(patience_of_try(reads, tries, patience - so_far), true, turn));
    const CallStatus status = end<What>(co_await std::move(asking), response);
    if (status.ok()) co_return response;
    const auto pause = again(status, asked, reads, tries, Clock::now() - begun);
    if (!pause || Clock::now() - begun + *pause >= patience) co_return stopping() ? stopped_status() : to_status(status);
    if (pause->count() > 0) {
      auto pausing = sleep_for(*pause);
      co_await std::move(pausing);
    }
  }
}

template <class What>
Task<Result<typename What::Response>> Cluster::ask(const Server& server, typename What::Request request,
                                                   std::chrono::milliseconds patience) {
  Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  typename What::Response response;
  auto asking = begin<What>(server, request, options_of({patience, patience}, false, turn));
  const CallStatus status = end<What>(co_await std::move(asking), response);
  if (!status.ok()) co_return to_status(status);
  co_return response;
}

}  // namespace backplane::etcd
