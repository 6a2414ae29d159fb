// Admission of the generic store's writes: AdmissionRunner, and the changes that plugins join to the transaction of a write.
//
// Thread-safety: every method from any executor; attributes belong to one write.
// Lifetime:      attributes, and the objects that they point to, live until the call has ended.
// Errors:        those of the plugins.
#pragma once

#include <memory>
#include <vector>

#include "backplane/points/admission.hpp"
#include "backplane/rest/admission_runner.hpp"
#include "backplane/rest/store_hooks.hpp"

namespace backplane {

class WriteAdmission : public AdmissionRunner {
 public:
  using Begun = std::vector<std::unique_ptr<BegunWrite>>;

  // Whether a plugin may join writes of this kind.
  virtual bool begins(AdmissionOperation) const noexcept { return false; }
  // Calls AdmissionPlugin::begin() of each such plugin. After an error, the begun writes have been finished as not kept.
  virtual Task<Result<Begun>> begin(const AdmissionAttributes&) { co_return Begun(); }
};

}  // namespace backplane
