// The storage transformers that are in use.  One plugin owns them, and may replace them while reads and writes run. Each operation uses the
// transformers that were in use when it began.
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
  // Sets the transformers of `owner`. Null: removes them, and then another plugin may set transformers.
  // Errors: kAlreadyExists, which names the other plugin, if another plugin has set transformers.
  Status set(const std::string& owner, std::shared_ptr<const StorageTransformers> transformers);
  // Sets the transformers that the running plugins have registered at startup, and their owner. Has no effect if they equal those of the
  // last call, so that transformers of a later set() stay in use.
  void use_rows(const std::string& owner, std::shared_ptr<const StorageTransformers> transformers);
  // The transformers in use; null: there are none, and values are stored unchanged.
  std::shared_ptr<const StorageTransformers> get() const { return transformers_.get(); }

 private:
  std::mutex mutex_;
  std::string owner_;
  std::shared_ptr<const StorageTransformers> rows_;
  kit::Published<StorageTransformers> transformers_{nullptr};
};

}  // namespace backplane
