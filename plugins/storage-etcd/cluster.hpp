// The servers of an etcd cluster: connections, which of them is asked, and calls as tasks.
//
// Thread-safety: any thread.  Answers come on threads of gRPC; tasks resume on the executor they waited on.
// Lifetime:      stop() has ended every call when it returns; the cluster outlives nothing after it.
// Errors:        as words.hpp translates them; kServiceUnavailable after stop().
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backplane/task.hpp"
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
  // What a server may take to answer; a write that has not been answered then may have happened all the same.
  static constexpr std::chrono::seconds kPatience{10};

  explicit Cluster(const Settings& settings);
  ~Cluster();

  // The server that is asked now: one with a connection, if there is any.
  const Server& server();
  // `failed` did not answer: the next one is asked from now on.
  void pass_over(const Server& failed);
  std::size_t size() const noexcept { return servers_.size(); }
  const std::vector<Server>& servers() const noexcept { return servers_; }

  // One call.  `Start` is called as start(server, context, request, response, callback).  A call that no server has seen goes to the
  // next one; one that only reads goes there whenever a server is not available.
  template <class Response, class Request, class Start>
  Task<Result<Response>> call(Start start, Request request, bool reads, std::chrono::milliseconds patience = kPatience);

  // One call to this server and no other.
  template <class Response, class Request, class Start>
  Task<Result<Response>> call_at(const Server& server, Start start, Request request, std::chrono::milliseconds patience);

  // Ends the calls under way, waits for them, refuses new ones.
  Task<void> stop();
  bool stopping() const noexcept { return stopping_.load(); }

  // ---- for calls that live longer (watches): false when the cluster has stopped.
  bool enter(grpc::ClientContext* context);
  void leave(grpc::ClientContext* context);

 private:
  template <class Response, class Request, class Start>
  Task<grpc::Status> call_once(const Server& server, Start start, Request& request, Response& response, std::chrono::milliseconds patience);

  std::vector<Server> servers_;
  std::atomic<std::size_t> current_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::set<grpc::ClientContext*> running_;
  Promise<bool> idle_;  // set when the last call has ended after stop()
};

template <class Response, class Request, class Start>
Task<Result<Response>> Cluster::call_at(const Server& server, Start start, Request request, std::chrono::milliseconds patience) {
  Response response;
  auto calling = call_once(server, start, request, response, patience);
  grpc::Status status = co_await std::move(calling);
  if (!status.ok()) co_return stopping() ? stopped_status() : to_status(status);
  co_return response;
}

template <class Response, class Request, class Start>
Task<Result<Response>> Cluster::call(Start start, Request request, bool reads, std::chrono::milliseconds patience) {
  for (std::size_t tries = 1;; ++tries) {
    const Server& asked = server();
    Response response;
    auto calling = call_once(asked, start, request, response, patience);
    grpc::Status status = co_await std::move(calling);
    if (status.ok()) co_return response;
    const bool away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (away) pass_over(asked);
    const bool again = away && !stopping() && tries < size() && (reads || never_arrived(status));
    if (!again) co_return stopping() ? stopped_status() : to_status(status);
  }
}

template <class Response, class Request, class Start>
Task<grpc::Status> Cluster::call_once(const Server& server, Start start, Request& request, Response& response,
                                      std::chrono::milliseconds patience) {
  auto context = std::make_unique<grpc::ClientContext>();
  grpc::ClientContext* const entered = context.get();
  context->set_deadline(std::chrono::system_clock::now() + patience);
  if (!enter(entered)) co_return grpc::Status::CANCELLED;
  Promise<grpc::Status> done;
  start(server, entered, &request, &response, [done](grpc::Status status) { done.set(std::move(status)); });
  grpc::Status status = co_await done.future();
  context.reset();  // it holds the channel, and goes before the store may
  leave(entered);
  co_return status;
}

}  // namespace backplane::etcd
