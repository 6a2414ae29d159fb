// For tests: a request body that is produced piece by piece.
//
// Thread-safety: one reader. `made` may be read on any thread.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "backplane/host.hpp"

namespace backplane::test {

// next() returns `count` pieces, each of `size` letters "p". After them, next() returns `error` if it is set, or an empty string, which
// ends the body.
class Pieces final : public BodySource {
 public:
  static constexpr std::size_t kSize = 50'000;
  explicit Pieces(std::size_t count, std::size_t size = kSize) : left_(count), size_(size) {}
  Task<Result<std::string>> next() override {
    if (left_ == 0) {
      if (error) co_return *error;
      co_return std::string();
    }
    --left_;
    made += size_;
    co_return std::string(size_, 'p');
  }
  std::atomic<std::size_t> made{0};  // the number of bytes that next() has returned
  std::optional<Status> error;

 private:
  std::size_t left_;
  const std::size_t size_;
};

}  // namespace backplane::test
