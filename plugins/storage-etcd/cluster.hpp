// Calls an etcd cluster: selects the server for each call, and retries.
//
// Thread-safety: any thread.
// Lifetime:      stop() returns after every call has ended, including waiting retries; call it before the destructor.
// Errors:        etcd's errors as to_status() (translation.hpp) converts them; kServiceUnavailable after stop().
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

// The limit of the size of a response; gRPC and protobuf have the same limit, and etcd's own clients use it.
inline constexpr std::size_t kMaxMessage = 0x7fffffff;
// Spare capacity of a serialized request for the prefix that gRPC inserts, so that the insertion does not reallocate.
inline constexpr std::size_t kFrameRoom = 8;

class Cluster {
 public:
  // The time limit of a call with all its attempts.  A write that gets no response in time may have been committed.
  static constexpr std::chrono::seconds kCallTimeout{10};
  // A call that etcd refuses because it has no leader is retried for this time. An election takes about a second.
  static constexpr std::chrono::milliseconds kElection{2'500};
  // The limits of an attempt that is not the last one: kTry for the response to a read, kReach for the connection of any call.
  static constexpr std::chrono::milliseconds kTry{3'000}, kReach{500};

  explicit Cluster(std::vector<Server> servers) : servers_(std::move(servers)) {}
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() { close(); }

  // The current server.
  const Server& server() const noexcept { return servers_[current_.load(std::memory_order_relaxed) % servers_.size()]; }
  // To be called if `failed` did not respond: later calls use the next server.
  void use_next_server(const Server& failed);
  std::size_t size() const noexcept { return servers_.size(); }
  const std::vector<Server>& servers() const noexcept { return servers_; }
  CallCounts& counts() noexcept { return counts_; }
  // To be called when a stream has received a response.
  void note_answer() { note_end(CallStatus()); }
  // Sets a function that is called when a server responds after a server could not be reached, on the executor of the responding call.  To
  // be called before the first call.
  void when_reached(std::function<void()> reached) { reached_ = std::move(reached); }

  // Makes a call (`What`: a type of calls.hpp).  If a server has not accepted the request, the call is repeated on the next server; a read
  // (`reads`) also if the server is unavailable.  While etcd elects a leader, calls are repeated after pauses.
  template <class What>
  Task<Result<typename What::Response>> call(typename What::Request request, bool reads, std::chrono::milliseconds timeout = kCallTimeout);

  // Makes a call on this server only, even if the server has no leader.
  template <class What>
  Task<Result<typename What::Response>> ask(const Server& server, typename What::Request request, std::chrono::milliseconds timeout);

  // Ends running calls and refuses new ones.
  void close();
  // As close(), and waits for the running calls.
  Task<void> stop();
  bool stopping() const noexcept { return stopping_.load(); }

  // Registers an operation with one or more calls. stop() waits until all Turns have been destroyed.
  class Turn {
   public:
    explicit Turn(Cluster& cluster);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    bool entered() const noexcept { return entered_; }
    // The breaker for the next call of this turn; close() uses it to end the call.
    std::shared_ptr<CallBreaker> next_breaker();

   private:
    friend class Cluster;
    Cluster& cluster_;
    bool entered_ = false;
    bool breaker_used_ = false;
    // The members below are guarded by Cluster::mutex_.
    std::shared_ptr<CallBreaker> breaker_;  // the constructor makes the breaker of the first call
    Turn *before_ = nullptr, *after_ = nullptr;
  };

 private:
  using Clock = std::chrono::steady_clock;
  // The time limits of one attempt. They are so short that a call that was not sent, or a read, can be repeated on another server in time.
  // The attempt on the last server has the rest of the time.
  struct CallTimeouts {
    std::chrono::milliseconds answer, connection;
  };
  CallTimeouts timeouts_of_try(bool reads, std::size_t tries, std::chrono::milliseconds left) const noexcept {
    if (tries >= size()) return {left, left};
    return {reads ? std::min(left, kTry) : left, std::min(left, kReach)};
  }
  // The pause after which a call with this result of the server `asked` is repeated; nullopt: it is not repeated.
  std::optional<std::chrono::milliseconds> again(const CallStatus& status, const Server& asked, bool reads, std::size_t tries,
                                                 Clock::duration so_far);
  void note_end(const CallStatus& status);
  static grpc::CallOptions options_of(CallTimeouts timeouts, bool needs_leader, Turn& turn);
  // Starts one attempt of a call; end() processes its result. They are not coroutines, because a coroutine frame for each attempt would
  // cost more than the functions.
  template <class What>
  Task<grpc::UnaryAnswer> begin(const Server& server, const typename What::Request& request, grpc::CallOptions&& options);
  template <class What>
  CallStatus end(grpc::UnaryAnswer&& answer, typename What::Response& response);

  const std::vector<Server> servers_;
  CallCounts counts_;
  std::function<void()> reached_;
  std::atomic<std::size_t> current_{0};
  std::atomic<bool> unreachable_{false};  // a server could not be reached, and none has responded since
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
Task<Result<typename What::Response>> Cluster::call(typename What::Request request, bool reads, std::chrono::milliseconds timeout) {
  Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  const auto begun = Clock::now();
  for (std::size_t tries = 1;; ++tries) {
    const Server& asked = server();
    typename What::Response response;
    const auto so_far = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    auto asking = begin<What>(asked, request, options_of(timeouts_of_try(reads, tries, timeout - so_far), true, turn));
    const CallStatus status = end<What>(co_await std::move(asking), response);
    if (status.ok()) co_return response;
    const auto pause = again(status, asked, reads, tries, Clock::now() - begun);
    if (!pause || Clock::now() - begun + *pause >= timeout) co_return stopping() ? stopped_status() : to_status(status);
    if (pause->count() > 0) {
      auto pausing = sleep_for(*pause);
      co_await std::move(pausing);
    }
  }
}

template <class What>
Task<Result<typename What::Response>> Cluster::ask(const Server& server, typename What::Request request,
                                                   std::chrono::milliseconds timeout) {
  Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  typename What::Response response;
  auto asking = begin<What>(server, request, options_of({timeout, timeout}, false, turn));
  const CallStatus status = end<What>(co_await std::move(asking), response);
  if (!status.ok()) co_return to_status(status);
  co_return response;
}

}  // namespace backplane::etcd
