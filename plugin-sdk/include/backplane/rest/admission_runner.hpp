// Runs the admission plugins, for storages that call admission themselves (RestStorage::admits_writes).
//
// Thread-safety: belongs to one request.
// Errors:        the error of the plugin that refuses the write; sent to the client unchanged.
#pragma once

#include <memory>

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
  // Whether any plugin that applies to the write reads metadata.managedFields (AdmissionPlugin::reads_managed_fields).
  virtual bool reads_managed_fields(const AdmissionAttributes&) const noexcept { return true; }
  // The newest published plugins, for RequestContext::admission; null: they do not change.
  virtual std::shared_ptr<const void> newest() const { return nullptr; }
};

}  // namespace BACKPLANE_API
