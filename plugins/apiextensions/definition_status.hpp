// Changes the status of a definition through its subresource /status.
//
// Thread-safety: any executor.
// Lifetime:      a copy keeps the storage.
// Errors:        the storage's; kConflict and kNotFound if the definition has been deleted.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backplane/rest/roles.hpp"
#include "backplane/rest/standard_storage.hpp"

namespace backplane::apiextensions {

class DefinitionStatus {
 public:
  explicit DefinitionStatus(std::shared_ptr<SubresourceStorage> storage) : storage_(std::move(storage)) {}

  // Applies `change` to the definition with this name and uid, and stores the result. After a conflict, it applies `change` to the newest
  // revision.
  Task<Result<ObjectRef>> write(std::string name, std::string uid, std::function<void(Object&)> change) const;

 private:
  std::shared_ptr<SubresourceStorage> storage_;
};

// True if the definition has been deleted, or replaced by another one with the same name; no work remains for it.
bool is_gone(const Status& status) noexcept;

}  // namespace backplane::apiextensions
