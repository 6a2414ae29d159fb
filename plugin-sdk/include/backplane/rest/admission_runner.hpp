// Runs the admission plugins, for storages that call admission themselves (RestStorage::admits_writes).
//
// Thread-safety: belongs to one request.
// Errors:        the error of the plugin that refuses the write; sent to the client unchanged.
#pragma once

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct AdmissionAttributes;

// Runs the enabled admission plugins for one write.
class AdmissionRunner {
 public:
  virtual ~AdmissionRunner();
  // Runs the mutating step of all plugins. May change *attributes.object.
  virtual Task<Status> admit(AdmissionAttributes& attributes) = 0;
  // Runs the validating step of all plugins.
  virtual Task<Status> validate(const AdmissionAttributes& attributes) = 0;
  // Whether any enabled plugin reads metadata.managedFields (AdmissionPlugin::reads_managed_fields).
  virtual bool reads_managed_fields() const noexcept { return true; }
};

}  // namespace BACKPLANE_API
