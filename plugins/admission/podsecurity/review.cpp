#include "podsecurity/review.hpp"

namespace backplane::admission::podsecurity {

Status publish(Review review, const AdmissionAttributes& attributes) {
  for (const std::string& warning : review.warnings) attributes.warn(warning);
  for (auto& [key, text] : review.annotations) {
    // This fails only if another part of the server has already set the key.
    (void)attributes.annotate(std::string(kPrefix) + std::string(key), std::move(text));
  }
  return std::move(review.refusal);
}

}  // namespace backplane::admission::podsecurity
