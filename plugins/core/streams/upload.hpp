// The bytes that are sent over an upgraded connection. A writer adds them piece by piece; HttpCall::body_source refers to this object.
//
// Thread-safety: any executor; one writer waits at a time.
// Lifetime:      shared by the call and its writer.
// Errors:        after close(), write() returns false, and write_now() ignores its bytes. Bytes that were written before are still sent.
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
  // Adds bytes, and waits while more than kWindow bytes are unsent. Returns false after close().
  Task<bool> write(std::string bytes);
  // Adds bytes without waiting, for small and rare writes. Returns false if more than kMost bytes are unsent, because the peer does not
  // read.
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
