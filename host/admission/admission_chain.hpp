// Mutate, mutate again where somebody asked for it, then validate: runs the admission plugins in order.
//
// Thread-safety: plugins are added during start-up only; running is const.
// Errors:        the first refusal; 403 "not yet ready to handle request" for a plugin that does not become ready in time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "registry/write_admission.hpp"

namespace backplane {

class AdmissionChain final : public WriteAdmission {
 public:
  // How long a write waits for a plugin that is not ready.
  explicit AdmissionChain(std::chrono::nanoseconds patience = std::chrono::seconds(10)) : patience_(patience) {}
  void add(std::shared_ptr<const AdmissionPlugin> plugin);
  std::vector<std::string> names() const;
  Task<Status> admit(AdmissionAttributes& attributes) override;
  Task<Status> validate(const AdmissionAttributes& attributes) override;
  // All plugins do.
  bool reads_managed_fields() const noexcept override;
  bool begins(AdmissionOperation operation) const noexcept override;
  Task<Result<Begun>> begin(const AdmissionAttributes& attributes) override;

 private:
  Task<Status> pass(AdmissionAttributes& attributes);
  Task<Status> wait_ready(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) const;

  std::vector<std::shared_ptr<const AdmissionPlugin>> plugins_;
  std::chrono::nanoseconds patience_;
};

}  // namespace backplane
