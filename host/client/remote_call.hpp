// One call to another server, between its reader and its connection.
//
// Thread-safety: the reader's methods and cancel() from any thread, one reader at a time; the connection's from the loop of its pool.
// Lifetime:      shared by both.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backplane/net/certificate_flaws.hpp"
#include "backplane/net/client.hpp"

namespace backplane {

class RemoteCall : public std::enable_shared_from_this<RemoteCall> {
 public:
  // Limit of the bytes that are buffered before they are read.
  static constexpr std::size_t kWindow = 256 * 1024;

  RemoteCall(HttpCall call, Executor& loop) : call_(std::move(call)), loop_(loop) {}

  // While a connection works off what it has received: readers on its own executor go on at the end of it, once, with all that has come.
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
  Task<Status> wait_head();
  Task<Result<std::string>> read();
  void cancel();
  // Sends a part of a streamed body; waits while a window of it is unsent.  False: the call has ended.
  Task<bool> send(std::string piece);
  void end_body();
  // Nothing better than this status can come of it.
  void break_off(Status why);
  int code() const noexcept { return code_; }
  const Headers& headers() const noexcept { return headers_; }
  const Headers& trailers() const noexcept { return trailers_; }
  CertificateFlaws peer() const noexcept { return peer_; }

  // ---- the connection, on the loop
  const HttpCall& request() const noexcept { return call_; }
  // What the connection does when the reader has read (with the number of bytes) and when it gives up.
  std::function<void(std::size_t count)> on_read;
  std::function<void()> on_cancel;
  // Called when the call is over.
  std::function<void()> on_over;
  // There is more to take_body(), or body_taken() has become true.
  std::function<void()> on_body;
  bool streams_body() const noexcept { return call_.body_source != nullptr && !call_.upgrade; }
  // It keeps a connection for as long as it likes.
  bool lasting() const noexcept { return call_.lasting || call_.upgrade; }
  // Up to `size` bytes of a streamed body; empty when none are there now.
  std::string take_body(std::size_t size);
  // The whole of it.
  bool body_taken() const;
  // Whose connection it is on; before head().
  void set_peer(CertificateFlaws peer) noexcept { peer_ = peer; }
  // A session has it: from here on it may have reached the server, until refused().
  void sent() noexcept { sent_ = true; }
  // The server has said that it has not begun with it.
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
  bool over() const;
  // Bytes that wait for the reader.
  std::size_t unread() const;
  int tries = 0;

 private:
  // Lets the reader wait for the next wake(); mutex_ is held until he does.  Cheaper than a Promise a piece: there is one reader.
  struct Sleep {
    RemoteCall& call;
    std::unique_lock<std::mutex> lock;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> frame);
    void await_resume() const noexcept {}
  };
  // What the reader finds without waiting.
  struct Found {
    Result<std::string> piece;
    std::unique_lock<std::mutex> lock;  // held: nothing is there yet
  };
  Found look();
  void wake(std::unique_lock<std::mutex>& lock);
  void over(std::unique_lock<std::mutex>& lock);
  void tell_read(std::size_t count);
  void tell_body();

  const HttpCall call_;
  Executor& loop_;
  bool sent_ = false;         // of the loop
  mutable std::mutex mutex_;  // what follows
  CertificateFlaws peer_;     // this and the next two do not change once the reader has seen the head
  int code_ = 0;
  Headers headers_;
  Headers trailers_;  // does not change once the reader has seen the end
  std::string body_;
  bool ended_ = false;
  std::optional<Status> error_;
  std::coroutine_handle<> waiting_;
  Executor* waiting_on_ = nullptr;
  std::string upload_;  // of a streamed body, to be sent
  bool upload_ended_ = false;
  std::optional<Promise<bool>> room_;
};

}  // namespace backplane
