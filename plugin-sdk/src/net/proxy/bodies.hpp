// The bytes that a proxied request sends to the backend: the client's body, or the client's bytes after a protocol upgrade.
//
// Thread-safety: use only on the executor of the exchange.
// Lifetime:      after finish_reading() has returned, the exchange is not used any more.
#pragma once

#include <optional>

#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane::proxying {

class ClientBytes : public BodySource {
 public:
  explicit ClientBytes(Exchange& exchange) : exchange_(exchange) {}
  Task<Result<std::string>> next() override;
  // Stops reading. Returns when no read is in progress.  Call it after the response has been sent, which ends a pending read.
  Task<void> finish_reading();

 protected:
  virtual Task<Result<std::string>> read() = 0;
  Exchange& exchange() noexcept { return exchange_; }

 private:
  Exchange& exchange_;
  bool closed_ = false;
  bool reading_ = false;
  std::optional<Promise<bool>> read_done_;
};

// The body of the request.
class RequestBody final : public ClientBytes {
 public:
  using ClientBytes::ClientBytes;

 protected:
  Task<Result<std::string>> read() override { return exchange().read_body_some(); }
};

// The client's bytes after the 101 response.
class TunnelBytes final : public ClientBytes {
 public:
  using ClientBytes::ClientBytes;
  // Call it with true when the exchange has been upgraded, or with false if no upgrade will happen.
  void begin(bool open) { begun_.set(open); }

 protected:
  Task<Result<std::string>> read() override;

 private:
  Promise<bool> begun_;
  bool open_ = false;
};

}  // namespace backplane::proxying
