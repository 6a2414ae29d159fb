// Runs the admission plugins in order: the mutating step, once more if a plugin requests it, then the validating step.
//
// Thread-safety: every method from any thread.  A step runs with the plugins that were published when it began.
//                Each step resumes its caller on the executor on which it began, whichever executor the plugins end on.
// Errors:        the first refusal; 403 "not yet ready to handle request" for a plugin that does not become ready in time;
//                kInternalError for a plugin that throws.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backplane/kit/published.hpp"
#include "registry/write_admission.hpp"

namespace backplane {

class AdmissionChain final : public WriteAdmission {
 public:
  // How long a write waits for a plugin that is not ready.
  explicit AdmissionChain(std::chrono::nanoseconds patience = std::chrono::seconds(10));
  ~AdmissionChain() override;
  using Plugins = std::vector<std::shared_ptr<const AdmissionPlugin>>;
  // Replaces all plugins. A step that is running continues with the plugins that it began with.
  void publish(const Plugins& plugins);
  std::vector<std::string> names() const;
  Task<Status> admit(AdmissionAttributes& attributes) override;
  Task<Status> validate(const AdmissionAttributes& attributes) override;
  // True if one of the plugins reads managedFields.
  bool reads_managed_fields() const noexcept override;
  bool begins(AdmissionOperation operation) const noexcept override;
  Task<Result<Begun>> begin(const AdmissionAttributes& attributes) override;

 private:
  class DurationCells;
  class Entry;
  class StepClock;
  using Entries = std::vector<std::shared_ptr<const Entry>>;
  Task<Status> pass(const Entries& entries, AdmissionAttributes& attributes, StepClock& clock);
  Task<Status> wait_ready(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) const;

  kit::Published<Entries> entries_{std::make_shared<const Entries>()};
  const std::unique_ptr<const DurationCells> durations_;  // of the steps
  const std::chrono::nanoseconds patience_;
};

}  // namespace backplane
