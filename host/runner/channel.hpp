// Calls in both directions between two processes. Many calls may run at the same time. Each call has a deadline.
//
// Each call uses a lane: a socket pair that the calling side makes and keeps for its next call. The calling side sends one end of the pair
// over the socket of the channel to the other side, where a thread serves the lane. So an answer wakes only the thread that waits for it.
//
// A served function may itself call the side that has called it. Such a nested call uses the same lane and runs on the thread that waits
// for the function. So a chain of nested calls uses one thread on each side, and what a thread must not do is also forbidden to the calls
// that it serves.
//
// Thread-safety: any thread.
// Lifetime:      the destructor calls close() and join(); no call may be in progress then. The handler outlives the channel.
// Errors:        kTimeout: no answer within the time; the other side may still execute the call.
//                kServiceUnavailable: the channel is closed. Received bytes that are not a frame close the channel.
//                Any: the other side has refused the call with this Status.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backplane/core/status.hpp"
#include "runner/lane.hpp"

namespace backplane::runner {

// The maximum numbers of concurrent calls that this side makes, and that it serves. More calls wait.
struct ChannelLimits {
  std::size_t made, served;
};
// The limits of the host's side; the runner's side has the same two numbers, exchanged. `served` counts the lanes of the plugin's own
// threads only, because nested calls use the lanes of the host.
inline constexpr ChannelLimits kChannelLimits{64, 8};

class Channel {
 public:
  using Clock = Lane::Clock;
  // Executes a call of `function` and returns its answer. If the handler throws, the call is refused.
  using Handler = std::function<Result<std::string>(std::uint16_t function, std::string_view payload)>;

  // Takes ownership of the socket. `name`: the name of the threads of the channel.
  Channel(int socket, Handler handler, ChannelLimits limits, const char* name);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Accepts calls from now on.
  void start();
  // Waits for a lane if all lanes are in use.
  Result<std::string> call(std::uint16_t function, std::string payload, Clock::time_point until);
  // Ends all calls, and refuses new ones.
  void close();
  bool closed() const;
  // Called once, on another thread, when the other side has closed the channel, or has sent bytes that are not a frame.
  void on_closed(std::function<void()> callback) { on_closed_ = std::move(callback); }
  // The functions whose answers were awaited when the channel was closed.
  std::vector<std::uint16_t> interrupted() const;
  // Waits until the running functions of this side have returned, and joins the threads.
  void join();

 private:
  struct Serving;
  struct Made {
    std::shared_ptr<Lane> lane;
    std::uint16_t function = 0;
  };
  struct Served {
    explicit Served(int socket) noexcept : lane(socket) {}
    const Lane lane;
    std::thread thread;
    bool ended = false;
  };

  // ---- calls that this side makes
  Result<std::shared_ptr<Lane>> take_lane(std::uint16_t function, Clock::time_point until);
  std::shared_ptr<Lane> open_lane() const;
  void release_lane(const std::shared_ptr<Lane>& lane, bool usable);
  // Sends the call and returns its answer; meanwhile serves the calls that the other side makes for it.
  Lane::Outcome exchange(const Lane& lane, std::uint16_t function, std::string_view payload, Clock::time_point until, Frame& answer);
  static Result<std::string> result_of(Lane::Outcome outcome, Frame& answer);

  // ---- calls that the other side makes
  void accept_lanes();
  int receive_socket() const;
  bool add_served(int socket);
  void serve_lane(Served& served);
  bool serve(const Lane& lane, const Frame& frame);

  const int socket_;
  const Handler handler_;
  const ChannelLimits limits_;
  const char* const name_;
  std::function<void()> on_closed_;

  mutable std::mutex mutex_;
  std::condition_variable freed_, ended_;  // `freed_`: a lane of this side may be idle; `ended_`: the thread of a served lane has ended
  bool closed_ = false;
  std::vector<std::shared_ptr<Lane>> idle_;  // the most recently used lane is at the end
  std::vector<Made> busy_;
  std::vector<std::uint16_t> interrupted_;
  std::list<Served> served_;  // only the acceptor adds and removes elements
  std::thread acceptor_;
};

}  // namespace backplane::runner
