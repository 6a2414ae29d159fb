// The stores that a command has open, and the loop that its tasks run on.
//
// Thread-safety: one thread.
// Lifetime:      the opener outlives it; the destructor stops the stores.
// Errors:        those of StoreOpener; a store that does not answer is named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/store_opener.hpp"
#include "base/io_loop.hpp"

namespace backplane {

class StoreSession {
 public:
  explicit StoreSession(StoreOpener& opener);
  ~StoreSession();
  StoreSession(const StoreSession&) = delete;
  StoreSession& operator=(const StoreSession&) = delete;

  Result<StorageBackend*> open(const StoreFlags& flags);
  // Creates an embedded store in a new directory.
  Result<StorageBackend*> open_new(const std::string& directory);
  IoLoop& loop() noexcept { return loop_; }

 private:
  StoreOpener& opener_;
  IoLoop loop_{"store"};
  std::vector<OpenStoreHandle> open_;
};

// Prints "Error: …"; returns the exit code 1.
int fail_store_command(const Status& status);

}  // namespace backplane
