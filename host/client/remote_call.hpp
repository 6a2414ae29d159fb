// RemoteCall: one call to another server. The reader waits for the response; the connection sends the request and stores the response.
//
// Thread-safety: the methods of the section "the reader" may be called from any thread, by one reader at a time. The methods of the section
//                "the connection" are called on the loop of the pool.
// Lifetime:      shared by the reader and the connection.
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

// Responsible for a call until the call is over: the pool in which the call waits, or the session that sends it. This is an interface
// because std::function members would be allocated for each call.
//
// Thread-safety: the methods are called on the loop.
class CallCarrier {
 public:
  // The reader has read `count` bytes.
  virtual void call_read(RemoteCall& call, std::size_t count) = 0;
  // take_body() can return more bytes, or body_taken() has become true.
  virtual void call_has_body(RemoteCall& call) = 0;
  // The call was cancelled, or its deadline has passed. The call fails after this method has returned.
  virtual void call_cancelled(RemoteCall& call) = 0;

 protected:
  ~CallCarrier() = default;
};

class RemoteCall final : public BreakableCall, public std::enable_shared_from_this<RemoteCall> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Deadlines = std::multimap<TimePoint, std::weak_ptr<RemoteCall>>;
  // An HTTP/1.1 session stops reading while this many response bytes are unread. send() waits while this many request bytes are unsent.
  static constexpr std::size_t kWindow = 256 * 1024;

  RemoteCall(HttpCall&& call, Executor& loop) : call_(std::move(call)), loop_(loop) {}

  // A Turn exists while a connection processes received bytes. Readers on the connection's executor resume when the Turn is destroyed: once
  // for all bytes that have arrived.
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
  // Waits for the response head. The caller must hold a reference to the call while it waits.
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
  // Makes the call buffer the whole response, up to `limit`. The reader then uses WholeWait instead of HeadWait and read(). Must be called
  // before carried_by().
  void expect_whole(AnswerLimit limit) noexcept { whole_ = limit; }
  // Waits for the end of the response. The caller must hold a reference to the call while it waits.
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
  // Adds a part of a streamed body, and waits while kWindow or more bytes are unsent. Returns false if the call has ended.
  Task<bool> send(std::string piece);
  void end_body();
  // Posts to the loop: the call fails with `why` unless it is over.
  void break_off(Status why) override;
  int code() const noexcept { return code_; }
  const Headers& headers() const noexcept { return headers_; }
  const Headers& trailers() const noexcept { return trailers_; }
  CertificateFlaws peer() const noexcept { return peer_; }

  // ---- the connection, on the loop
  const HttpCall& request() const noexcept { return call_; }
  // Null: the call has no carrier at the moment. A call that is over has no carrier.
  void carried_by(CallCarrier* carrier) noexcept { carrier_ = carrier; }
  // Removes the call from its carrier, because the call was cancelled or its deadline has passed.
  void leave_carrier();
  // Stores the call's entry in `all`. The entry is removed when the call is over.
  void use_deadline(std::shared_ptr<Deadlines> all, Deadlines::iterator place) noexcept;
  void forget_deadline();
  std::int32_t stream = 0;  // the stream ID in an HTTP/2 session
  bool streams_body() const noexcept { return call_.body_source != nullptr && !call_.upgrade; }
  // Returns true if the call may occupy a connection for an unlimited time.
  bool lasting() const noexcept { return call_.lasting || call_.upgrade; }
  // Returns up to `size` unsent bytes of a streamed body; the result is empty if there are none.
  std::string take_body(std::size_t size);
  // True if take_body() has returned the whole body.
  bool body_taken() const;
  // Stores the flaws of the server's certificate. Called before head().
  void set_peer(CertificateFlaws peer) noexcept { peer_ = peer; }
  // The call was passed to a session. From then on, the server may have processed the call, unless refused() is called.
  void sent() noexcept { sent_ = true; }
  // The server has reported that it did not process the stream.
  void refused() noexcept { sent_ = false; }
  bool was_sent() const noexcept { return sent_; }
  void head(int code, Headers headers);
  // Called before end().
  void trailers(Headers trailers);
  void body(std::string_view bytes);
  void end();
  // Ends the call with this error. If the call was not sent, never_sent() is true for the error.
  void fail(Status status);
  bool has_head() const;
  bool over() const noexcept { return over_.load(std::memory_order_acquire); }
  // True if expect_whole() was called. The session then extends windows without waiting for the reader.
  bool takes_whole() const noexcept { return whole_.has_value(); }
  // Returns the number of bytes that the reader has not read; 0 if takes_whole().
  std::size_t unread() const;
  int tries = 0;

 private:
  // Waits for bytes or the end. This is cheaper than a Promise for each piece, and sufficient because there is one reader.
  struct PieceWait {
    RemoteCall& call;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> frame) { return call.sleep(frame, &RemoteCall::has_piece_or_end); }
    void await_resume() const noexcept {}
  };
  // The three functions below are called with mutex_ held.
  bool has_head_or_end() const noexcept { return code_ != 0 || ended_ || error_.has_value(); }
  bool has_piece_or_end() const noexcept { return !body_.empty() || has_ended(); }
  bool has_ended() const noexcept { return ended_ || error_.has_value(); }
  // Makes the reader wait for the next wake(). If `ready` is true, the function returns false and the reader does not wait.
  bool sleep(std::coroutine_handle<> frame, bool (RemoteCall::*ready)() const noexcept);
  Result<std::string> take_piece();
  Result<WholeAnswer> take_whole();
  void append_whole(std::string_view bytes);
  void wake(std::unique_lock<std::mutex>& lock);
  void over(std::unique_lock<std::mutex>& lock);
  void notify_read(std::size_t count);
  void notify_body();

  const HttpCall call_;
  Executor& loop_;
  CallCarrier* carrier_ = nullptr;  // this member and the next three are used on the loop only
  std::shared_ptr<Deadlines> deadlines_;
  Deadlines::iterator deadline_;
  bool sent_ = false;
  std::optional<AnswerLimit> whole_;  // does not change once the call has a carrier
  // guards the members below; if whole_ is set, the loop uses code_, headers_, trailers_, body_ and past_limit_ without it until the end
  mutable std::mutex mutex_;
  CertificateFlaws peer_;  // peer_, code_ and headers_ do not change after the reader has received the head
  int code_ = 0;
  Headers headers_;
  Headers trailers_;  // does not change after the reader has received the end
  std::string body_;
  bool past_limit_ = false;  // the body is longer than whole_ permits; the rest is dropped
  bool ended_ = false;
  std::optional<Status> error_;
  std::atomic<bool> over_{false};  // true if ended_ or error_ is set; written with mutex_ held
  std::coroutine_handle<> waiting_;
  Executor* waiting_on_ = nullptr;
  std::string upload_;  // bytes of a streamed body that are not sent yet
  bool upload_ended_ = false;
  std::optional<Promise<bool>> room_;
};

}  // namespace backplane
