// Bytes sent over an upgraded connection, written piece by piece: the other end of HttpCall::body_source.
//
// Thread-safety: any executor; one writer waits at a time.
// Lifetime:      shared by the call and its writer.
// Errors:        after close() writes are refused; bytes that were written before are still sent.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "backplane/net/client.hpp"

namespace backplane::core {

class Upload final : public BodySource {
 public:
  static constexpr std::size_t kWindow = 256 << 10;
  static constexpr std::size_t kMost = 4 * kWindow;

  Task<Result<std::string>> next() override;
  // Waits while a window of bytes is unsent. False: the peer does not read any more.
  Task<bool> write(std::string bytes);
  // Does not wait; for small and rare writes. False: the other end does not read, and the buffer is full.
  bool write_now(std::string bytes);
  void close();

 private:
  bool add(std::string bytes, std::optional<Promise<bool>>& room);
  bool take(std::string& out, std::optional<Promise<bool>>& more);

  std::mutex mutex_;
  std::string bytes_;
  bool closed_ = false;
  std::optional<Promise<bool>> more_, room_;
};

}  // namespace backplane::core
