// One call to another server, between its reader and its connection.
//
// Thread-safety: the reader's methods and cancel() from any thread, one reader at a time; the connection's from the loop of its pool.
// Lifetime:      shared by both.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/net/certificate_flaws.hpp"
#include "backplane/net/client.hpp"

namespace backplane {

class RemoteCall;

// The owner of a call until the call is over: the pool in which it waits, or the session that sends it. An interface and not std::function
// members of the call, because these would be allocated for each call.
//
// Thread-safety: called on the loop.
class CallCarrier {
 public:
  // The reader has read `count` bytes.
  virtual void call_read(RemoteCall& call, std::size_t count) = 0;
  // There is more to take_body(), or body_taken() has become true.
  virtual void call_has_body(RemoteCall& call) = 0;
  // Called if the reader stops reading: the call then fails.
  virtual void call_given_up(RemoteCall& call) = 0;

 protected:
  ~CallCarrier() = default;
};

class RemoteCall final : public BreakableCall, public std::enable_shared_from_this<RemoteCall> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Deadlines = std::multimap<TimePoint, std::weak_ptr<RemoteCall>>;
  // Limit of the bytes that are buffered before they are read.
  static constexpr std::size_t kWindow = 256 * 1024;

  RemoteCall(HttpCall&& call, Executor& loop) : call_(std::move(call)), loop_(loop) {}

  // Exists while a connection processes the bytes that it has received. Readers on the connection's executor resume once, when the Turn is
  // destroyed, with all data that has arrived.
  class Turn {
   public:
    explicit Turn(Executor& loop) noexcept;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class RemoteCall;
    static thread_local Turn* current_;
    Executor& loop_;
    std::vector<std::coroutine_handle<>> readers_;
  };

  // ---- the reader
  // Waits for the response head. The caller keeps the call meanwhile.
  class HeadWait {
   public:
    explicit HeadWait(RemoteCall& call) noexcept : call_(call) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) { return call_.sleep(frame, &RemoteCall::has_head_or_end); }
    Status await_resume() const;

   private:
    RemoteCall& call_;
  };
  Task<Result<std::string>> read();
  // Buffers the whole response up to `limit` for a WholeWait, in place of HeadWait and read(). Before the call has a carrier.
  void expect_whole(AnswerLimit limit) noexcept { whole_ = limit; }
  // Waits for the end of the response. The caller keeps the call meanwhile.
  class WholeWait {
   public:
    explicit WholeWait(RemoteCall& call) noexcept : call_(call) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) { return call_.sleep(frame, &RemoteCall::has_ended); }
    Result<WholeAnswer> await_resume() const { return call_.take_whole(); }

   private:
    RemoteCall& call_;
  };
  void cancel();
  // Sends a part of a streamed body; waits while a window of it is unsent.  False: the call has ended.
  Task<bool> send(std::string piece);
  void end_body();
  // Ends the call with this error.
  void break_off(Status why) override;
  int code() const noexcept { return code_; }
  const Headers& headers() const noexcept { return headers_; }
  const Headers& trailers() const noexcept { return trailers_; }
  CertificateFlaws peer() const noexcept { return peer_; }

  // ---- the connection, on the loop
  const HttpCall& request() const noexcept { return call_; }
  // Null: no carrier at the moment. A call that is over has no carrier.
  void carried_by(CallCarrier* carrier) noexcept { carrier_ = carrier; }
  // Removes the call from its carrier: the reader has given up, or the deadline has passed.
  void leave_carrier();
  // The call's entry in the deadlines of its loop, which is removed when the call is over.
  void use_deadline(std::shared_ptr<Deadlines> all, Deadlines::iterator place) noexcept;
  void forget_deadline();
  std::int32_t stream = 0;  // its number in an HTTP/2 session
  bool streams_body() const noexcept { return call_.body_source != nullptr && !call_.upgrade; }
  // The call may occupy a connection for an unlimited time.
  bool lasting() const noexcept { return call_.lasting || call_.upgrade; }
  // Up to `size` bytes of a streamed body; empty if none have arrived.
  std::string take_body(std::size_t size);
  // True if take_body() has returned the whole body.
  bool body_taken() const;
  // The peer of the call's connection. Called before head().
  void set_peer(CertificateFlaws peer) noexcept { peer_ = peer; }
  // A session has taken the call: unless refused() is called, the server may have processed it.
  void sent() noexcept { sent_ = true; }
  // The server has reported that it did not process the stream.
  void refused() noexcept { sent_ = false; }
  bool was_sent() const noexcept { return sent_; }
  void head(int code, Headers headers);
  // Before end().
  void trailers(Headers trailers);
  void body(std::string_view bytes);
  void end();
  // A call that was not sent fails so that never_sent(status) is true.
  void fail(Status status);
  bool has_head() const;
  bool over() const noexcept { return over_.load(std::memory_order_acquire); }
  // The session need not hold back data for the reader.
  bool takes_whole() const noexcept { return whole_.has_value(); }
  // Bytes that wait for the reader; 0 if it takes the whole response.
  std::size_t unread() const;
  int tries = 0;

 private:
  // Waits for bytes or the end.  Cheaper than a Promise for each piece: there is one reader.
  struct PieceWait {
    RemoteCall& call;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) { return call.sleep(frame, &RemoteCall::has_piece_or_end); }
    void await_resume() const noexcept {}
  };
  // With mutex_ held.
  bool has_head_or_end() const noexcept { return code_ != 0 || ended_ || error_.has_value(); }
  bool has_piece_or_end() const noexcept { return !body_.empty() || has_ended(); }
  bool has_ended() const noexcept { return ended_ || error_.has_value(); }
  // Lets the reader wait for the next wake(), unless `ready`: then the result is false.
  bool sleep(std::coroutine_handle<> frame, bool (RemoteCall::*ready)() const noexcept);
  Result<std::string> take_piece();
  Result<WholeAnswer> take_whole();
  void append_whole(std::string_view bytes);
  void wake(std::unique_lock<std::mutex>& lock);
  void over(std::unique_lock<std::mutex>& lock);
  void tell_read(std::size_t count);
  void tell_body();

  const HttpCall call_;
  Executor& loop_;
  CallCarrier* carrier_ = nullptr;  // this and the next three: of the loop
  std::shared_ptr<Deadlines> deadlines_;
  Deadlines::iterator deadline_;
  bool sent_ = false;
  std::optional<AnswerLimit> whole_;  // does not change once the call has a carrier
  mutable std::mutex mutex_;          // what follows; of a whole response only the end, before which the loop alone uses the rest
  CertificateFlaws peer_;             // this and the next two do not change once the reader has seen the head
  int code_ = 0;
  Headers headers_;
  Headers trailers_;  // does not change once the reader has seen the end
  std::string body_;
  bool past_limit_ = false;  // of whole_: what follows of the body is dropped
  bool ended_ = false;
  std::optional<Status> error_;
  std::atomic<bool> over_{false};  // ended_ or error_; written with mutex_
  std::coroutine_handle<> waiting_;
  Executor* waiting_on_ = nullptr;
  std::string upload_;  // of a streamed body, to be sent
  bool upload_ended_ = false;
  std::optional<Promise<bool>> room_;
};

}  // namespace backplane
