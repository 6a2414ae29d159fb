// The connection to one server of etcd, and calls over it as gRPC makes them (over HTTP/2).  It is made when there is a call, and again
// when it broke; what is asked while it cannot be made is refused at once, until another connection has reached the server.
//
// Calls that are begun in one turn of a loop leave in one write.
//
// Thread-safety: any thread.
// Lifetime:      made by make(), ended by close(); calls hold nothing of it.  Listeners are there until they have been told of the end.
// Errors:        a call's status: kUnavailable with `never_sent` where no server has taken it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backplane/core/task.hpp"
#include "call_counts.hpp"
#include "call_status.hpp"
#include "reachability.hpp"
#include "settings.hpp"
#include "tls.hpp"
#include "wire.hpp"

struct nghttp2_session;
struct nghttp2_session_callbacks;

namespace backplane::etcd {

// What a call brings; on the thread of the wire, which must not be blocked.
class CallListener {
 public:
  // Of a stream: false: no more for now (a few that are on their way may come all the same), until Channel::resume().
  virtual bool message(std::string bytes) = 0;
  // The last that is told.
  virtual void ended(CallStatus status) = 0;

 protected:
  ~CallListener() = default;
};

class Channel final : public Wire::User, public std::enable_shared_from_this<Channel> {
 public:
  using Clock = Wire::Clock;
  class Call;
  using CallRef = std::shared_ptr<Call>;
  struct Begin {
    const Method& method;
    std::string message;                                      // the first one
    Clock::time_point deadline;                               // max(): none
    bool more = false;                                        // others may follow it: send()
    bool needs_leader = true;                                 // a server that has lost its leader is to say so
    Clock::time_point connect_by = Clock::time_point::max();  // when it has not been sent by then, it ends
  };

  // `server`: shared by all connections to it.
  static std::shared_ptr<Channel> make(const std::shared_ptr<Wire>& wire, const Settings& settings, const Endpoint& endpoint,
                                       std::shared_ptr<Reachability> server = std::make_shared<Reachability>());
  Channel(std::shared_ptr<Wire> wire, const Settings& settings, const Endpoint& endpoint, std::shared_ptr<Reachability> server);
  ~Channel();

  // `listener` is told of the end in any case.
  CallRef start(Begin begin, CallListener& listener);
  void send(const CallRef& call, std::string message);
  void resume(const CallRef& call);
  // It ends with kCancelled, soon, unless it has ended.
  void cancel(const CallRef& call);

  // Whether there is a connection that is not in doubt; where there is none, it is made.
  bool connected();
  const std::shared_ptr<Reachability>& server() const noexcept { return server_; }
  // A stream is to bring something soon: silence means more than otherwise.
  void expect();
  // Ends the calls, refuses new ones.
  void close();
  // The same once the wire has stopped.
  void dispose();

  // ---- of the wire
  void ready(std::uint32_t events) override;
  Clock::time_point look(Clock::time_point now) override;

 private:
  enum class State : std::uint8_t {
    kIdle,
    kResolving,
    kConnecting,  // until the server has spoken
    kReady,
    kLeaving,  // the server takes no more calls
    kFailed,   // until it is tried again
    kClosed
  };
  struct Address;
  struct Told;
  struct Callbacks;
  struct FlushTurn;
  using Ping = std::array<std::uint8_t, 8>;
  using Lock = std::unique_lock<std::mutex>;

  // All with the lock, those that end a connection on the thread of the wire.
  void connect();
  // Whether another connection has reached the server since this one has begun to try.
  bool reached_elsewhere() const noexcept { return server_->since(tried_at_); }
  void connect_if_worthwhile();
  void resolve();
  void try_next_address();
  void open(const Address& address);
  void begin_session();
  void connected_now();
  void lose(const std::string& why);
  nghttp2_session* make_session();
  void leave();
  void keep_ping(const std::uint8_t* data);
  void answer_pings();
  void drop_connection();
  void fail_calls(const CallStatus& sent, const CallStatus& unsent);
  void end_call(const CallRef& call, CallStatus status);
  void end_answered(Call& call);
  void submit(const CallRef& call);
  void flush();
  void flush_soon();
  void write_out();
  void read_in(std::uint32_t events);
  void take(std::string_view bytes);
  void told_message(Call& call, std::string bytes);
  void tell_soon();
  // Without the lock, on the thread of the wire.
  void tell();
  void tell_message(Call& call, std::string message);
  void resolved(std::vector<Address> addresses, const std::string& error);
  void expire(Clock::time_point now);
  Clock::time_point next_ping() const;

  const std::shared_ptr<Wire> wire_;
  const Settings settings_;
  const Endpoint endpoint_;
  const std::shared_ptr<Reachability> server_;
  std::string host_, port_, path_;  // of its address; `path_`: of a Unix socket
  std::string authority_;           // as calls name it

  std::mutex mutex_;
  State state_ = State::kIdle;
  std::string failure_;  // why there is no connection
  bool away_ = false;    // it could not be made; until it is there, what is asked is refused
  std::vector<Address> addresses_;
  Clock::time_point give_up_ = Clock::time_point::max();  // the attempt, or what leaves
  Clock::time_point tried_at_{};                          // when the latest attempt began
  Clock::time_point try_again_ = Clock::time_point::max();
  Clock::duration pause_{};  // before the next attempt; zero: the shortest
  int socket_ = -1;
  bool socket_connected_ = false;
  bool waits_to_write_ = false;
  std::unique_ptr<Tls> tls_;
  nghttp2_session* session_ = nullptr;
  std::string plain_, out_;
  std::size_t out_offset_ = 0;
  std::vector<Executor*> flushing_;  // who will flush at the end of their turn
  std::vector<Ping> pings_;          // to be answered
  Clock::time_point answer_pings_at_{};
  Clock::time_point heard_{}, pinged_at_{};
  bool pinged_ = false;      // and nothing was heard since
  bool expects_ = false;     // a stream is to bring something
  bool doubted_ = false;     // a call has waited in vain, and nothing was heard since it was sent
  bool looking_up_ = false;  // the name, on a thread of its own
  bool receiving_ = false;   // nghttp2 is reading, and must not be asked to write
  std::string complaint_;    // the last of nghttp2's of the server

  std::unordered_map<std::int32_t, CallRef> streams_;
  std::map<std::int32_t, CallRef> answered_;  // streams that the server has not ended yet; a few
  std::vector<CallRef> waiting_;              // for the connection
  std::set<std::pair<Clock::time_point, Call*>> deadlines_;
  Clock::time_point looks_at_{};
  bool begun_some_ = false;  // since the last look
  std::vector<Told> told_;
  bool telling_ = false;  // tell() will run, or does
};

}  // namespace backplane::etcd
