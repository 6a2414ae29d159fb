// Strategies of kinds that contain pods. PodHolderStrategy stores the host's options for pods. WorkloadStrategy adds the common defaults,
// validation and warnings of kinds with a selector and a pod template in spec.
//
// Thread-safety: const after construction; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/strategy.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {

// The differences between the kinds with a WorkloadStrategy.
struct WorkloadFacts {
  std::string_view selector_kind = {};  // completes "empty selector is invalid for …"
  bool selector_required = true;
  const char* bad_selector = nullptr;                // the message of a second error for an invalid selector; null: no second error
  bool names_hosts = false;                          // the object's name becomes part of the host names of its pods
  std::string_view without_deadline = "ReplicaSet";  // completes "activeDeadlineSeconds in … is not Supported"
};

// The strategy of a kind whose objects contain pods. The host's options apply to the validation of these pods.
class PodHolderStrategy : public kit::KindStrategy {
 public:
  PodHolderStrategy(KindFacts facts, PodValidationOptions options) : KindStrategy(std::move(facts)), options_(options) {}

 protected:
  const PodValidationOptions& options() const noexcept { return options_; }

 private:
  PodValidationOptions options_;
};

class WorkloadStrategy : public PodHolderStrategy {
 public:
  WorkloadStrategy(KindFacts facts, WorkloadFacts workload, PodValidationOptions options)
      : PodHolderStrategy(std::move(facts), options), workload_(workload) {}
  std::vector<std::string> warnings(const Object& object, const Object* old) const override;
  void apply_defaults(Object& object) const override;
  void canonicalize(Object& object) const override;

 protected:
  // Checks the selector and the template, and that the template's restartPolicy is Always.
  void check(const Object& object, FieldErrors& errors) const override;
  void check_selector(const Object& spec, FieldErrors& errors) const;

 private:
  WorkloadFacts workload_;
};

}  // namespace backplane::workload
