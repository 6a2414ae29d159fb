// Calls in both directions over one stream socket, many at a time, each with a deadline.
//
// A call that a function makes to the side that has called it runs on the thread that waits for that function: a chain of calls uses one
// thread on each side, and what a thread may do there holds for the calls that are made for it. Other calls run on threads of the channel,
// which are made when they are needed.
//
// Thread-safety: any thread.
// Lifetime:      close() and join() before the destructor; no call may be under way then. The handler outlives the channel.
// Errors:        kTimeout: no answer within the time; the other side may still work. kServiceUnavailable: the channel is closed. The
//                other side's Status if it has refused the call. Bytes that are no frame close the channel.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backplane/core/status.hpp"
#include "runner/frame.hpp"

namespace backplane::runner {

class Channel {
 public:
  using Clock = std::chrono::steady_clock;
  // Makes the call of `function` and returns its answer. An exception refuses the call.
  using Handler = std::function<Result<std::string>(std::uint16_t function, std::string_view payload)>;

  // Takes ownership of the socket. `threads`: the most that it makes for calls. `name`: of its threads.
  Channel(int socket, Handler handler, std::size_t threads, const char* name);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Reads from now on.
  void start();
  Result<std::string> call(std::uint16_t function, std::string payload, Clock::time_point until);
  // Ends all calls, and refuses new ones.
  void close();
  bool closed() const;
  // Called once, on another thread, when the other side has closed it, or has sent bytes that are no frame.
  void on_closed(std::function<void()> callback) { on_closed_ = std::move(callback); }
  // The functions whose answers were awaited when it was closed.
  std::vector<std::uint16_t> interrupted() const;
  // Waits for its threads: functions of this side that run.
  void join();

 private:
  struct Frame {
    FrameHead head;
    std::string payload;
  };
  struct Pending {
    explicit Pending(std::uint16_t called) : function(called) {}
    const std::uint16_t function;
    std::condition_variable changed;
    std::deque<Frame> nested;
    bool answered = false;
    Frame answer;
  };
  struct Serving;

  void read_frames();
  bool read_bytes(char* to, std::size_t size) const;
  bool take(Frame frame);
  void queue(Frame frame);
  void work();
  void serve(Frame frame);
  Status await(std::unique_lock<std::mutex>& lock, Pending& pending, Clock::time_point until);
  bool write(const FrameHead& head, std::string_view payload, Clock::time_point until);
  bool write_bytes(std::string_view bytes, Clock::time_point until) const;

  const int socket_;
  const Handler handler_;
  const std::size_t most_threads_;
  const char* const name_;
  std::function<void()> on_closed_;

  std::timed_mutex writing_;
  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Pending*> pending_;
  std::vector<std::uint16_t> interrupted_;
  bool closed_ = false;
  std::deque<Frame> calls_;
  std::condition_variable called_;
  std::size_t idle_ = 0;
  std::vector<std::thread> workers_;
  std::thread reader_;
};

}  // namespace backplane::runner
