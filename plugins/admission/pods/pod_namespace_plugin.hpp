// An admission plugin that changes and checks pods by the annotations of their namespace.
//
// Thread-safety: any thread.
// Lifetime:      the services outlive the plugin.
// Errors:        403 while the cache of namespaces is not complete; those of the virtual methods.
#pragma once

#include "backplane/points/admission.hpp"
#include "objects/namespaces.hpp"

namespace backplane::admission::pods {

class PodNamespacePlugin : public AdmissionPlugin {
 public:
  // Call it in a make function. Starts an informer for namespaces.
  explicit PodNamespacePlugin(Services& services) : namespaces_(services) {}

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const final;
  Task<Status> admit(AdmissionAttributes& attributes) const final;
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const final;
  Task<Status> validate(const AdmissionAttributes& attributes) const final;

 protected:
  // Changes the pod of a write, and then checks it. `ns`: its namespace, in the memory of the request.
  virtual Status merge(AdmissionAttributes& attributes, const Object& ns) const = 0;
  virtual Status check(const AdmissionAttributes& attributes, const Object& ns) const = 0;
  // The error if the namespace cannot be read. `why`: never kForbidden.
  virtual Status unreadable(const AdmissionAttributes& attributes, Status why) const = 0;

 private:
  Task<Result<Object>> read(const AdmissionAttributes& attributes) const;

  const objects::Namespaces namespaces_;
};

}  // namespace backplane::admission::pods
