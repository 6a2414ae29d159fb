// Admission of the generic store's writes: AdmissionRunner, extended by changes that plugins add to the transaction of a write
// (BegunWrite).
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

  // True if a plugin may add changes to the transactions of the write.
  virtual bool begins(const AdmissionAttributes&) const noexcept { return false; }
  // Calls AdmissionPlugin::begin() of each such plugin. If one fails, calls finish(false) of the others before it returns the error.
  virtual Task<Result<Begun>> begin(const AdmissionAttributes&) { co_return Begun(); }
};

}  // namespace backplane
