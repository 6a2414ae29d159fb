#include "routing/lazy_document.hpp"

#include <openssl/evp.h>

namespace backplane {

std::string sha512_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha512(), nullptr);
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(size * 2);
  for (unsigned int i = 0; i < size; ++i) {
    out.push_back(kHex[digest[i] >> 4]);
    out.push_back(kHex[digest[i] & 15]);
  }
  return out;
}

LazyDocument::~LazyDocument() {
  const MadeRef kept = made_.lock();
  const Shelf shelf = shelf_.lock();
  if (kept && shelf) shelf->drop(kept);
}

LazyDocument::MadeRef LazyDocument::made() const {
  const std::lock_guard lock(mutex_);
  return made_.lock();
}

std::string LazyDocument::hash() const {
  const std::lock_guard lock(mutex_);
  return hash_;
}

Promise<bool> LazyDocument::enter() const {
  Promise<bool> turn;
  const std::lock_guard lock(mutex_);
  const bool is_made = !made_.expired();
  if (is_made || !making_) {
    making_ = making_ || !is_made;
    turn.set(!is_made);
  } else {
    waiting_.push_back(turn);
  }
  return turn;
}

void LazyDocument::leave(const MadeRef& made, const Shelf& shelf) const {
  std::vector<Promise<bool>> waiting;
  {
    const std::lock_guard lock(mutex_);
    made_ = made;
    shelf_ = shelf;
    if (made) hash_ = made->hash;
    making_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& each : waiting) each.set(false);
}

Task<LazyDocument::MadeRef> LazyDocument::get(Shelf shelf, std::function<std::string()> make, std::string hash) const {
  for (;;) {
    if (MadeRef done = made()) {
      shelf->put(done);
      co_return done;
    }
    auto turn = enter().future();
    const bool ours = co_await turn;
    if (!ours) continue;
    auto fresh = std::make_shared<MadeDocument>();
    fresh->hash = std::move(hash);
    std::exception_ptr error;
    try {
      auto waiting = shelf->makers().take();
      const Turns::Turn maker = co_await std::move(waiting);
      auto making = run_blocking([&make, &fresh] {
        std::string text = make();
        text.shrink_to_fit();
        if (fresh->hash.empty()) fresh->hash = sha512_hex(text);
        fresh->bytes = SharedBytes(std::move(text));
      });
      co_await std::move(making);
    } catch (...) {
      error = std::current_exception();
    }
    if (!error) shelf->put(fresh);
    leave(error ? nullptr : fresh, shelf);
    if (error) std::rethrow_exception(error);
    co_return fresh;
  }
}

}  // namespace backplane
