#include "net/proxy/bodies.hpp"

namespace backplane::proxying {

Task<Result<std::string>> ClientBytes::next() {
  if (closed_) co_return std::string();
  reading_ = true;
  Result<std::string> piece;
  auto reading = read();
  piece = co_await std::move(reading);
  reading_ = false;
  if (read_done_) read_done_->set(true);
  co_return piece;
}

Task<void> ClientBytes::finish_reading() {
  closed_ = true;
  if (!reading_) co_return;
  read_done_.emplace();
  auto waiting = read_done_->future();
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
