// The servers of an etcd cluster: connections, which of them is asked, and calls as tasks.
//
// Thread-safety: any thread.  Answers come on the thread of the wire; tasks resume on the executor they waited on.
// Lifetime:      stop() has ended every call when it returns, those that wait to be tried again among them.
// Errors:        as words.hpp translates them; kServiceUnavailable after stop().
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/core/task.hpp"
#include "call_counts.hpp"
#include "channel.hpp"
#include "settings.hpp"
#include "wire.hpp"
#include "words.hpp"

namespace backplane::etcd {

struct Server {
  std::string shown;
  std::shared_ptr<Channel> channel;
};

class Cluster {
 public:
  // What a call may take in all; a write that has not been answered then may have happened all the same.
  static constexpr std::chrono::seconds kPatience{10};
  // For so long a call is tried again that etcd refuses because it has no leader: a new one is chosen within about a second.
  static constexpr std::chrono::milliseconds kElection{2'500};
  // For so long one server of several may keep a read waiting, and any call for its connection.
  static constexpr std::chrono::milliseconds kTry{3'000}, kReach{500};

  // Its connections are on `wire`, where answers come.  `others`: has connections to the same servers, of which these know what those find
  // out; it need not outlive this one.
  Cluster(const Settings& settings, std::shared_ptr<Wire> wire, const Cluster* others = nullptr);
  ~Cluster();

  // The server that is asked now: one with a connection, if there is any.
  const Server& server();
  // Whether there is a connection to any; where there is none, they are made.
  bool reached() const;
  // `failed` did not answer: the next one is asked from now on.
  void pass_over(const Server& failed);
  std::size_t size() const noexcept { return servers_.size(); }
  // Streams are to bring something soon.
  void expect();
  const std::vector<Server>& servers() const noexcept { return servers_; }

  // One call (`What`: of calls.hpp).  A call that no server has taken goes to the next one; one that only reads goes there whenever a
  // server is not available.  While etcd chooses a leader both are tried again, with pauses.
  template <class What>
  Task<Result<typename What::Response>> call(typename What::Request request, bool reads, std::chrono::milliseconds patience = kPatience);

  // One call to this server and no other, without a task: `done(status, response)` on the thread of the answers; not called once the
  // cluster has stopped.
  template <class What, class Done>
  void call_back(const Server& server, const typename What::Request& request, std::chrono::milliseconds patience, Done done);

  // Ends the calls under way, refuses new ones.
  void close();
  // And waits for them.
  Task<void> stop();
  bool stopping() const noexcept { return stopping_.load(); }

  // ---- for calls that live longer (watches): false when the cluster has stopped.
  bool enter();
  void leave();

  // stop() waits for whoever has one: a call, also between two tries.
  class Turn {
   public:
    explicit Turn(Cluster& cluster) : cluster_(cluster), entered_(cluster.enter()) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (entered_) cluster_.leave();
    }
    bool entered() const noexcept { return entered_; }

   private:
    Cluster& cluster_;
    const bool entered_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  // How long one server is waited for: what it has not been sent, and what only reads, may be asked of another one in time.  The last one
  // is waited for as long as there is.
  struct Patience {
    std::chrono::milliseconds answer, connection;
  };
  Patience patience_of_try(bool reads, std::size_t tries, std::chrono::milliseconds left) const noexcept {
    if (tries >= size()) return {left, left};
    return {reads ? std::min(left, kTry) : left, std::min(left, kReach)};
  }
  // Whether a call that `asked` has answered so goes on, and after which pause.
  std::optional<std::chrono::milliseconds> again(const CallStatus& status, const Server& asked, bool reads, std::size_t tries,
                                                 Clock::duration so_far);
  static void count_unary_start(const Method& method) {
    count_started(method);
    count_sent(method);
  }
  static void count_unary_end(const Method& method, const CallStatus& status) {
    if (status.ok()) count_received(method);
    count_handled(method, status);
  }
  template <class Response>
  static CallStatus read_answer(const CallStatus& status, const std::optional<std::string>& bytes, Response& response) {
    if (!status.ok()) return status;
    if (!bytes || !response.ParseFromString(*bytes)) return {Code::kInternal, "etcd answered what is no answer"};
    return status;
  }
  // One try: starts when it is awaited.
  class Try final : public CallListener {
   public:
    Try(Channel& channel, const Method& method, const std::string& request, Patience patience)
        : channel_(channel), begin_{method, request, Clock::now() + patience.answer} {
      begin_.connect_by = Clock::now() + patience.connection;
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> frame) {
      frame_ = frame;
      executor_ = current_executor();
      channel_.start(std::move(begin_), *this);
    }
    void await_resume() const noexcept {}
    bool message(std::string bytes) override {
      bytes_ = std::move(bytes);
      return true;
    }
    void ended(CallStatus status) override {
      status_ = std::move(status);
      // It is gone as soon as the frame goes on.
      const std::coroutine_handle<> frame = frame_;
      if (Executor* const executor = executor_) return executor->post(frame);
      frame.resume();
    }
    template <class Response>
    CallStatus take(Response& response) const {
      return read_answer(status_, bytes_, response);
    }

   private:
    Channel& channel_;
    Channel::Begin begin_;
    std::optional<std::string> bytes_;
    CallStatus status_;
    std::coroutine_handle<> frame_;
    Executor* executor_ = nullptr;
  };

  const std::shared_ptr<Wire> wire_;
  std::vector<Server> servers_;
  const std::shared_ptr<std::atomic<std::size_t>> current_;  // of all that have connections to these servers
  std::atomic<bool> stopping_{false}, waited_for_{false};
  std::mutex mutex_;
  std::size_t turns_ = 0;
  Promise<bool> idle_;  // set when the last call has ended after stop()
};

template <class What>
Task<Result<typename What::Response>> Cluster::call(typename What::Request request, bool reads, std::chrono::milliseconds patience) {
  const Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  const auto begun = Clock::now();
  const std::string message = request.SerializeAsString();
  CallStatus status;
  for (std::size_t tries = 1;; ++tries) {
    const Server& asked = server();
    typename What::Response response;
    const auto so_far = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    count_unary_start(What::kMethod);
    Try trying(*asked.channel, What::kMethod, message, patience_of_try(reads, tries, patience - so_far));
    co_await trying;
    status = trying.take(response);
    count_unary_end(What::kMethod, status);
    if (status.ok()) co_return response;
    const auto pause = again(status, asked, reads, tries, Clock::now() - begun);
    if (!pause || Clock::now() - begun + *pause >= patience) co_return stopping() ? stopped_status() : to_status(status);
    if (pause->count() > 0) {
      auto pausing = sleep_for(*pause);
      co_await std::move(pausing);
    }
  }
}

template <class What, class Done>
void Cluster::call_back(const Server& server, const typename What::Request& request, std::chrono::milliseconds patience, Done done) {
  // It holds itself until it has been told.
  struct Asked final : CallListener {
    Asked(Cluster& cluster_in, Done done_in) : cluster(cluster_in), done(std::move(done_in)) {}
    bool message(std::string answer) override {
      bytes = std::move(answer);
      return true;
    }
    void ended(CallStatus status) override {
      const std::unique_ptr<Asked> self(this);
      Cluster& there = cluster;
      typename What::Response response;
      const CallStatus read = read_answer(status, bytes, response);
      count_unary_end(What::kMethod, read);
      if (!there.stopping()) done(read, response);
      there.leave();
    }
    Cluster& cluster;
    Done done;
    std::optional<std::string> bytes;
  };
  if (!enter()) return;
  count_unary_start(What::kMethod);
  auto asked = std::make_unique<Asked>(*this, std::move(done));
  server.channel->start({What::kMethod, request.SerializeAsString(), Clock::now() + patience, false, false}, *asked.release());
}

}  // namespace backplane::etcd
