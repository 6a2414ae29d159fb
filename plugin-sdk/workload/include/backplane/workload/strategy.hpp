// Strategies of kinds that hold pods: the host's options for pods; for kinds with a selector and a pod template in spec, also their common
// defaults, validation and warnings.
//
// Thread-safety: const after construction; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/strategy.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {

// The differences between such kinds.
struct WorkloadFacts {
  std::string_view selector_kind = {};  // completes "empty selector is invalid for …"
  bool selector_required = true;
  const char* bad_selector = nullptr;                // message of a second error for an invalid selector; null: none
  bool names_hosts = false;                          // its name becomes part of its pods' host names
  std::string_view without_deadline = "ReplicaSet";  // completes "activeDeadlineSeconds in … is not Supported"
};

// A kind whose objects contain pods, which are validated with the host's options.
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
  // Checks the selector, the template, and that its restartPolicy is Always.
  void check(const Object& object, FieldErrors& errors) const override;
  void check_selector(const Object& spec, FieldErrors& errors) const;

 private:
  WorkloadFacts workload_;
};

}  // namespace backplane::workload
