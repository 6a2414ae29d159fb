#include "policies/reinvocation.hpp"

namespace backplane::admission::policies {

PolicyReinvocation& PolicyReinvocation::of(AdmissionReinvocation& write) {
  std::shared_ptr<void>& state = write.state_of("MutatingAdmissionPolicy");
  if (state == nullptr) state = std::make_shared<PolicyReinvocation>();
  return *static_cast<PolicyReinvocation*>(state.get());
}

// If `invoked_` is empty, require_again() has no effect, so has_changed() does not need the copy.
void PolicyReinvocation::keep_last(const Object& object) {
  last_.reset();
  if (!invoked_.empty()) last_.emplace(object, json::storage_ptr());
}

void PolicyReinvocation::require_again() { again_.merge(invoked_); }

}  // namespace backplane::admission::policies
