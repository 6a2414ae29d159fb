#include "policies/reinvocation.hpp"

namespace backplane::admission::policies {

PolicyReinvocation& PolicyReinvocation::of(AdmissionReinvocation& write) {
  std::shared_ptr<void>& state = write.state_of("MutatingAdmissionPolicy");
  if (state == nullptr) state = std::make_shared<PolicyReinvocation>();
  return *static_cast<PolicyReinvocation*>(state.get());
}

// A copy is needed only if a comparison could have an effect.
void PolicyReinvocation::keep_last(const Object& object) {
  last_.reset();
  if (!invoked_.empty()) last_.emplace(object, json::storage_ptr());
}

void PolicyReinvocation::require_again() { again_.merge(invoked_); }

}  // namespace backplane::admission::policies
