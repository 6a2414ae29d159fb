// One call to another server, between its reader and its connection.
//
// Thread-safety: the reader's methods and cancel() from any thread; the connection's from the client's loop.
// Lifetime:      shared by both.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backplane/client.hpp"

namespace backplane {

class RemoteCall : public std::enable_shared_from_this<RemoteCall> {
 public:
  // More than this is not held for a reader who does not read.
  static constexpr std::size_t kWindow = 256 * 1024;

  RemoteCall(HttpCall call, Executor& loop) : call_(std::move(call)), loop_(loop) {}

  // ---- the reader
  Task<Status> wait_head();
  Task<Result<std::string>> read();
  void cancel();
  int code() const noexcept { return code_; }
  const Headers& headers() const noexcept { return headers_; }

  // ---- the connection, on the loop
  const HttpCall& request() const noexcept { return call_; }
  // What the connection does when the reader has read (with the number of bytes) and when it gives up.
  std::function<void(std::size_t count)> on_read;
  std::function<void()> on_cancel;
  void head(int code, Headers headers);
  void body(std::string_view bytes);
  void end();
  void fail(Status status);
  bool has_head() const;
  bool over() const;
  // Bytes that wait for the reader.
  std::size_t unread() const;
  int tries = 0;

 private:
  void wake(std::unique_lock<std::mutex>& lock);

  const HttpCall call_;
  Executor& loop_;
  mutable std::mutex mutex_;  // what follows
  int code_ = 0;              // these two do not change once the reader has seen the head
  Headers headers_;
  std::string body_;
  bool ended_ = false;
  std::optional<Status> error_;
  std::optional<Promise<bool>> waiting_;
};

}  // namespace backplane
