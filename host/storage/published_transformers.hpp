// The storage transformers in use.  One plugin owns them and may replace them while reads and writes run; each operation uses those that
// were in use when it began.
//
// Thread-safety: every method from any thread.
// Lifetime:      shared by the stores of a server.  Replaced transformers are destroyed after the last operation that uses them.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backplane/kit/published.hpp"
#include "backplane/points/storage_transformer.hpp"

namespace backplane {

class PublishedTransformers {
 public:
  // Null: `owner` has no transformers any more, and another plugin may set some.
  // Errors: kAlreadyExists, naming the plugin that has set some.
  Status set(const std::string& owner, std::shared_ptr<const StorageTransformers> transformers);
  // The transformers that the running plugins have registered, and their owner. Has no effect if they are the same as in the last call, so
  // later transformers of set() stay in use.
  void use_rows(const std::string& owner, std::shared_ptr<const StorageTransformers> transformers);
  // Null: objects are stored as they are.
  std::shared_ptr<const StorageTransformers> get() const { return transformers_.get(); }

 private:
  std::mutex mutex_;
  std::string owner_;
  std::shared_ptr<const StorageTransformers> rows_;
  kit::Published<StorageTransformers> transformers_{nullptr};
};

}  // namespace backplane
