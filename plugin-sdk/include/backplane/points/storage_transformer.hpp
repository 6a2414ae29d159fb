// Storage transformers: encryption (or compression) of stored objects, chosen for each resource.
//
// Thread-safety: every method from any thread.
// Lifetime:      shared; a transformer that has been replaced is destroyed after the last read and write through it.
// Errors:        kInternalError: the bytes cannot be written, or cannot be read (a missing key, damage). An object that cannot be read is
//                treated as unreadable (points/unreadable_object.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/bytes.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Transforms the stored bytes of the objects of a resource.
class StorageTransformer {
 public:
  // The result of a read.
  struct Plain {
    SharedBytes bytes;
    // True if to_storage() would use another key or another format now. An update then writes the object even if nothing else changes.
    bool stale = false;
  };
  virtual ~StorageTransformer();
  // `key` is the storage key; a transformer may bind the stored bytes to it. The defaults return the results of to_storage_now() and
  // from_storage_now(), so a transformer that never waits overrides only those.
  virtual Task<Result<SharedBytes>> to_storage(std::string key, SharedBytes bytes) const;
  virtual Task<Result<Plain>> from_storage(std::string key, SharedBytes bytes) const;
  // Return the results if they need no waiting; nullopt (the default): the host calls to_storage() or from_storage(). The host calls these
  // functions first; they must not block.
  virtual std::optional<Result<SharedBytes>> to_storage_now(std::string_view key, const SharedBytes& bytes) const;
  virtual std::optional<Result<Plain>> from_storage_now(std::string_view key, const SharedBytes& bytes) const;
};

// The transformers of one configuration (Host::set_storage_transformers).
class StorageTransformers {
 public:
  virtual ~StorageTransformers();
  // Returns null if objects of the resource are stored without a transformation.  The host calls it for each read and write, so it must be
  // fast.
  virtual std::shared_ptr<const StorageTransformer> find(const GroupResource& resource) const = 0;
};

}  // namespace BACKPLANE_API
