// A document that is made when somebody asks and then kept as bytes.
//
// Thread-safety: any thread.  It is made on the blocking pool, once; who asks meanwhile waits without holding a thread.
// Lifetime:      outlives every get() under way: whoever asks holds what owns it.
// Errors:        what `make` throws is thrown to the one who had it made; the next to ask has it made again.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/bytes.hpp"
#include "backplane/task.hpp"

namespace backplane {

// Upper-case hex.
std::string sha512_hex(std::string_view bytes);

class LazyDocument {
 public:
  struct Made {
    SharedBytes bytes;
    std::string hash;  // sha512_hex of the bytes, unless they were made with one
  };
  using MadeRef = std::shared_ptr<const Made>;

  // `hash`: stands for the bytes in ETags; empty: they are hashed.
  Task<MadeRef> get(std::function<std::string()> make, std::string hash = {}) const;

 private:
  // Who is to make it gets true at once; the others, later, whether it has been made.
  Promise<bool> enter() const;
  void leave(MadeRef made) const;
  MadeRef made() const;

  mutable std::mutex mutex_;
  mutable MadeRef made_;
  mutable bool making_ = false;
  mutable std::vector<Promise<bool>> waiting_;
};

}  // namespace backplane
