// For tests of writes: paths, bodies that are refused, and an AdmissionRunner that records its calls.
//
// Thread-safety: like the harness.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/admission.hpp"
#include "endpoints/testing/harness.hpp"

namespace backplane::testing {

inline constexpr std::string_view kMaps = "namespaces/n/configmaps";
inline std::string maps(std::string_view rest = "") { return std::string(kMaps).append(rest); }

// A body that is refused, and the message of the error.
struct Refusal {
  std::string body;
  std::string message;
};

// Records its calls. admit() returns `refusal`.
class CountingAdmission final : public AdmissionRunner {
 public:
  Task<Status> admit(AdmissionAttributes& attributes) override {
    seen.push_back("admit " + attributes.name + " " + attributes.subresource);
    co_return refusal;
  }
  Task<Status> validate(const AdmissionAttributes& attributes) override {
    seen.push_back("validate " + attributes.name);
    co_return Status();
  }
  std::vector<std::string> seen;
  Status refusal;
};

}  // namespace backplane::testing
