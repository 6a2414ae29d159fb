// The servers of an etcd cluster: connections, which of them is asked, and calls as tasks.
//
// Thread-safety: any thread.  Answers come on a thread of their own; tasks resume on the executor they waited on.
// Lifetime:      stop() has ended every call when it returns, those that wait to be tried again among them.
// Errors:        as words.hpp translates them; kServiceUnavailable after stop().
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "answers.hpp"
#include "backplane/task.hpp"
#include "call_counts.hpp"
#include "etcd.grpc.pb.h"
#include "settings.hpp"
#include "words.hpp"

namespace backplane::etcd {

struct Server {
  std::string shown;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<etcdserverpb::KV::Stub> kv;
  std::unique_ptr<etcdserverpb::Watch::Stub> watch;
  std::unique_ptr<etcdserverpb::Lease::Stub> lease;
  std::unique_ptr<etcdserverpb::Maintenance::Stub> maintenance;
};

class Cluster {
 public:
  // What a call may take in all; a write that has not been answered then may have happened all the same.
  static constexpr std::chrono::seconds kPatience{10};
  // For so long a call is tried again that etcd refuses because it has no leader: a new one is chosen within about a second.
  static constexpr std::chrono::milliseconds kElection{2'500};
  // For so long one server of several may keep a read waiting.
  static constexpr std::chrono::milliseconds kTry{3'000};

  explicit Cluster(const Settings& settings);
  ~Cluster();

  // The server that is asked now: one with a connection, if there is any.
  const Server& server();
  // `failed` did not answer: the next one is asked from now on.
  void pass_over(const Server& failed);
  std::size_t size() const noexcept { return servers_.size(); }
  const std::vector<Server>& servers() const noexcept { return servers_; }

  // One call.  `Start` is called as start(server, context, request, queue), and is counted as its kMethod.  A call that no
  // server has taken goes to the next one; one that only reads goes there whenever a server is not available.  While etcd chooses a leader
  // both are tried again, with pauses.
  template <class Response, class Request, class Start>
  Task<Result<Response>> call(Start start, Request request, bool reads, std::chrono::milliseconds patience = kPatience);

  // One call to this server and no other.
  template <class Response, class Request, class Start>
  Task<Result<Response>> call_at(const Server& server, Start start, Request request, std::chrono::milliseconds patience);
  // The same without a task: `done(status, response)` on the thread of the answers; not called once the cluster has stopped.
  template <class Response, class Request, class Start, class Done>
  void call_back(const Server& server, Start start, Request request, std::chrono::milliseconds patience, Done done);

  // Ends the calls under way, waits for them, refuses new ones.
  Task<void> stop();
  bool stopping() const noexcept { return stopping_.load(); }

  // ---- for calls that live longer (watches): false when the cluster has stopped.
  bool enter(grpc::ClientContext* context);
  void leave(grpc::ClientContext* context);
  grpc::CompletionQueue* queue() noexcept { return answers_.queue(); }
  // A server that has lost its leader is to say so: it knows nothing of what the others write meanwhile.
  static void require_leader(grpc::ClientContext& context);

  // stop() waits for whoever has one: a call, also between two tries.
  class Turn {
   public:
    explicit Turn(Cluster& cluster) : cluster_(cluster), entered_(cluster.enter(nullptr)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
      if (entered_) cluster_.leave(nullptr);
    }
    bool entered() const noexcept { return entered_; }

   private:
    Cluster& cluster_;
    const bool entered_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  // How long one server is waited for: one that only reads may ask another one in time.  The last one is waited for as long as there is.
  std::chrono::milliseconds patience_of_try(bool reads, std::size_t tries, std::chrono::milliseconds left) const noexcept {
    return reads && tries < size() ? std::min(left, kTry) : left;
  }
  // Whether a call that `asked` has answered so goes on, and after which pause.
  std::optional<std::chrono::milliseconds> again(const grpc::Status& status, const Server& asked, bool reads, std::size_t tries,
                                                 Clock::duration so_far);
  // Waits for the end of a call.
  template <class Reader, class Response>
  class End final : public Waiter {
   public:
    End(Reader& reader, Response& response) : reader_(reader), response_(response) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> frame) {
      frame_ = frame;
      executor_ = current_executor();
      reader_.Finish(&response_, &status_, static_cast<Waiter*>(this));
    }
    grpc::Status await_resume() noexcept { return std::move(status_); }
    void happened(bool) override {
      // It is gone as soon as the frame goes on.
      const std::coroutine_handle<> frame = frame_;
      if (Executor* const executor = executor_) return executor->post(frame);
      frame.resume();
    }

   private:
    Reader& reader_;
    Response& response_;
    grpc::Status status_;
    std::coroutine_handle<> frame_;
    Executor* executor_ = nullptr;
  };
  static void count_unary_start(const Method& method) {
    count_started(method);
    count_sent(method);
  }
  static void count_unary_end(const Method& method, const grpc::Status& status) {
    if (status.ok()) count_received(method);
    count_handled(method, status);
  }
  template <class Response, class Request, class Start>
  Task<grpc::Status> call_once(const Server& server, Start start, Request& request, Response& response, std::chrono::milliseconds patience);

  std::vector<Server> servers_;
  std::atomic<std::size_t> current_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::set<grpc::ClientContext*> running_;
  std::size_t turns_ = 0;
  Promise<bool> idle_;  // set when the last call has ended after stop()
  Answers answers_;     // ends first: those that are told need the rest
};

template <class Response, class Request, class Start>
Task<Result<Response>> Cluster::call_at(const Server& server, Start start, Request request, std::chrono::milliseconds patience) {
  const Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  Response response;
  auto calling = call_once(server, start, request, response, patience);
  grpc::Status status = co_await std::move(calling);
  if (!status.ok()) co_return stopping() ? stopped_status() : to_status(status);
  co_return response;
}

template <class Response, class Request, class Start>
Task<Result<Response>> Cluster::call(Start start, Request request, bool reads, std::chrono::milliseconds patience) {
  const Turn turn(*this);
  if (!turn.entered()) co_return stopped_status();
  const auto begun = Clock::now();
  grpc::Status status;
  for (std::size_t tries = 1;; ++tries) {
    const Server& asked = server();
    Response response;
    const auto so_far = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    auto calling = call_once(asked, start, request, response, patience_of_try(reads, tries, patience - so_far));
    status = co_await std::move(calling);
    if (status.ok()) co_return response;
    const auto pause = again(status, asked, reads, tries, Clock::now() - begun);
    if (!pause || Clock::now() - begun + *pause >= patience) co_return stopping() ? stopped_status() : to_status(status);
    if (pause->count() > 0) {
      auto pausing = sleep_for(*pause);
      co_await std::move(pausing);
    }
  }
}

template <class Response, class Request, class Start, class Done>
void Cluster::call_back(const Server& server, Start start, Request request, std::chrono::milliseconds patience, Done done) {
  // It holds itself until it has been told.
  struct Call final : Waiter {
    Call(Cluster& cluster_in, Request request_in, Done done_in)
        : cluster(cluster_in), request(std::move(request_in)), done(std::move(done_in)) {}
    void happened(bool) override {
      std::unique_ptr<Call> self(this);
      Cluster& there = cluster;
      count_unary_end(Start::kMethod, status);
      if (!there.stopping()) done(status, response);
      there.leave(&context);  // nobody cancels it from here on
      self.reset();           // it holds the channel, and goes before the store may
      there.leave(nullptr);
    }
    Cluster& cluster;
    grpc::ClientContext context;
    Request request;
    Response response;
    grpc::Status status;
    Done done;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;  // in memory of the context
  };
  auto call = std::make_unique<Call>(*this, std::move(request), std::move(done));
  call->context.set_deadline(std::chrono::system_clock::now() + patience);
  if (!enter(nullptr)) return;
  if (!enter(&call->context)) return leave(nullptr);
  count_unary_start(Start::kMethod);
  call->reader = start(server, &call->context, call->request, queue());
  Call* const begun = call.release();
  begun->reader->Finish(&begun->response, &begun->status, static_cast<Waiter*>(begun));
}

template <class Response, class Request, class Start>
Task<grpc::Status> Cluster::call_once(const Server& server, Start start, Request& request, Response& response,
                                      std::chrono::milliseconds patience) {
  auto context = std::make_unique<grpc::ClientContext>();
  grpc::ClientContext* const entered = context.get();
  context->set_deadline(std::chrono::system_clock::now() + patience);
  require_leader(*context);
  if (!enter(entered)) co_return grpc::Status::CANCELLED;
  count_unary_start(Start::kMethod);
  const auto reader = start(server, entered, request, queue());
  End end(*reader, response);
  grpc::Status status = co_await end;
  count_unary_end(Start::kMethod, status);
  leave(entered);   // nobody cancels it from here on
  context.reset();  // it holds the channel, and goes before the store may: the caller has a turn
  co_return status;
}

}  // namespace backplane::etcd
