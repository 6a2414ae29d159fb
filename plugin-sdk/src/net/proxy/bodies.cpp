#include "net/proxy/bodies.hpp"

namespace backplane::proxying {

Task<Result<std::string>> ClientBytes::next() {
  if (closed_) co_return std::string();
  reading_ = true;
  Result<std::string> piece;
  auto reading = read();
  piece = co_await std::move(reading);
  reading_ = false;
  if (settled_) settled_->set(true);
  co_return piece;
}

Task<void> ClientBytes::settle() {
  closed_ = true;
  if (!reading_) co_return;
  settled_.emplace();
  auto waiting = settled_->future();
  bool settled = co_await waiting;
  static_cast<void>(settled);
}

Task<Result<std::string>> TunnelBytes::read() {
  if (!open_) {
    auto waiting = begun_.future();
    open_ = co_await waiting;
  }
  if (!open_) co_return std::string();
  auto reading = exchange().read_some();
  std::string some = co_await std::move(reading);
  co_return some;
}

}  // namespace backplane::proxying
