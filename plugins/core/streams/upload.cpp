#include "streams/upload.hpp"

#include <utility>

namespace backplane::core {

// False: there are no bytes yet; `more` is set when there are.
bool Upload::take(std::string& out, std::optional<Promise<bool>>& more) {
  std::optional<Promise<bool>> room;
  {
    const std::lock_guard lock(mutex_);
    if (bytes_.empty() && !closed_) {
      more = more_.emplace();
      return false;
    }
    out = std::exchange(bytes_, {});
    room = std::exchange(room_, std::nullopt);
  }
  if (room) room->set(true);
  return true;
}

Task<Result<std::string>> Upload::next() {
  std::string out;
  std::optional<Promise<bool>> more;
  while (!take(out, more)) {
    const bool arrived = co_await more->future();
    (void)arrived;
  }
  co_return out;
}

// False: the write was refused. `room` is set if the writer must wait.
bool Upload::add(std::string bytes, std::optional<Promise<bool>>& room) {
  std::optional<Promise<bool>> more;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    bytes_.append(bytes);
    more = std::exchange(more_, std::nullopt);
    if (!more && bytes_.size() > kWindow) room = room_.emplace();
  }
  if (more) more->set(true);
  return true;
}

Task<bool> Upload::write(std::string bytes) {
  std::optional<Promise<bool>> room;
  if (bytes.empty()) co_return true;
  if (!add(std::move(bytes), room)) co_return false;
  if (!room) co_return true;
  const bool open = co_await room->future();
  co_return open;
}

bool Upload::write_now(std::string bytes) {
  std::optional<Promise<bool>> more;
  bool fits = true;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || bytes.empty()) return true;
    bytes_.append(bytes);
    fits = bytes_.size() <= kMost;
    more = std::exchange(more_, std::nullopt);
  }
  if (more) more->set(true);
  return fits;
}

void Upload::close() {
  std::optional<Promise<bool>> more, room;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    more = std::exchange(more_, std::nullopt);
    room = std::exchange(room_, std::nullopt);
  }
  if (more) more->set(true);
  if (room) room->set(false);
}

}  // namespace backplane::core
