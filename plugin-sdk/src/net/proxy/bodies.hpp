// What a proxied request sends while its answer comes: the client's body, or what the client says after it has left HTTP.
//
// Thread-safety: the executor of the exchange.
// Lifetime:      the exchange is not touched once settle() has come back.
#pragma once

#include <optional>

#include "backplane/net/client.hpp"
#include "backplane/points/http.hpp"

namespace backplane::proxying {

class ClientBytes : public BodySource {
 public:
  explicit ClientBytes(Exchange& exchange) : exchange_(exchange) {}
  Task<Result<std::string>> next() override;
  // Nothing more is read; comes back when nobody reads any more.  Call it when the exchange has been answered, which ends a reading.
  Task<void> settle();

 protected:
  virtual Task<Result<std::string>> read() = 0;
  Exchange& exchange() noexcept { return exchange_; }

 private:
  Exchange& exchange_;
  bool closed_ = false;
  bool reading_ = false;
  std::optional<Promise<bool>> settled_;
};

// The body of the request.
class RequestBody final : public ClientBytes {
 public:
  using ClientBytes::ClientBytes;

 protected:
  Task<Result<std::string>> read() override { return exchange().read_body_some(); }
};

// What comes after the 101.
class TunnelBytes final : public ClientBytes {
 public:
  using ClientBytes::ClientBytes;
  // The exchange has left HTTP (or never will: `open` false).
  void begin(bool open) { begun_.set(open); }

 protected:
  Task<Result<std::string>> read() override;

 private:
  Promise<bool> begun_;
  bool open_ = false;
};

}  // namespace backplane::proxying
