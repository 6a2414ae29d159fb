// Reads the objects that tokens refer to.
//
// Thread-safety: any thread, after the server has started.
// Lifetime:      the host outlives the reader.
// Errors:        kNotFound for a name that is empty or that no object can have; those of the storage.
#pragma once

#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"

namespace backplane {
class Host;
}

namespace backplane::authentication {

class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  // Returns an object of the core group from the cache, or from the store if the cache does not contain it. `resource`: the plural name,
  // such as "secrets".
  virtual Task<Result<Object>> get(std::string resource, std::string ns, std::string name) = 0;
};

class StorageReader final : public ObjectReader {
 public:
  explicit StorageReader(Host& host) : host_(host) {}
  Task<Result<Object>> get(std::string resource, std::string ns, std::string name) override;

 private:
  Host& host_;
};

}  // namespace backplane::authentication
