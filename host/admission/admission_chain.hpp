// Runs the admission plugins in order. admit() is the mutating step; it runs a second time if a plugin requests it. validate() is the
// validating step.
//
// Thread-safety: any thread. A step runs with the plugins that were published when it began. It resumes its caller on the executor on which
//                it began, whichever executor the plugins end on.
// Errors:        the first error of a plugin. 403 "not yet ready to handle request" if a plugin does not become ready in time.
//                kInternalError if a plugin throws.
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
  // `ready_timeout`: how long a write waits for a plugin that is not ready.
  explicit AdmissionChain(std::chrono::nanoseconds ready_timeout = std::chrono::seconds(10));
  ~AdmissionChain() override;
  using Plugins = std::vector<std::shared_ptr<const AdmissionPlugin>>;
  // Replaces all plugins. Writes of a request that has RequestContext::admission, which is a result of newest(), continue with these
  // plugins; a running step of any other write continues with the plugins with which it began.
  void publish(const Plugins& plugins);
  std::vector<std::string> names() const;
  Task<Status> admit(AdmissionAttributes& attributes) override;
  Task<Status> validate(const AdmissionAttributes& attributes) override;
  bool reads_managed_fields(const AdmissionAttributes& attributes) const noexcept override;
  std::shared_ptr<const void> newest() const override { return entries_.get(); }
  bool begins(const AdmissionAttributes& attributes) const noexcept override;
  Task<Result<Begun>> begin(const AdmissionAttributes& attributes) override;

 private:
  class DurationCells;
  class Entry;
  class StepClock;
  using Entries = std::vector<std::shared_ptr<const Entry>>;
  // The plugins that apply to a write.
  std::shared_ptr<const Entries> entries_for(const AdmissionAttributes& attributes) const;
  Task<Status> pass(const Entries& entries, AdmissionAttributes& attributes, StepClock& clock);
  Task<Status> wait_ready(const AdmissionPlugin& plugin, const AdmissionAttributes& attributes) const;

  kit::Published<Entries> entries_{std::make_shared<const Entries>()};
  const std::unique_ptr<const DurationCells> durations_;  // the durations of the steps
  const std::chrono::nanoseconds ready_timeout_;
};

}  // namespace backplane
