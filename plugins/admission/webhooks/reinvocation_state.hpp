// Determines the mutating webhooks that are called again in the second pass: those that have reinvocationPolicy IfNeeded and were called
// before the object changed.
//
// Thread-safety: belongs to one write.
// Lifetime:      kept in AdmissionReinvocation from the first pass to the second.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/reinvocationcontext.go.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "backplane/core/json.hpp"
#include "webhooks/alike_objects.hpp"

namespace backplane::admission::webhooks {

class ReinvocationState {
 public:
  bool should_reinvoke(const std::string& uid) const { return again_.count(uid) > 0; }
  void called_reinvocable(const std::string& uid) { called_.insert(uid); }
  // Call it when the object has changed after the webhooks that were called so far.
  void require_reinvocation() {
    again_.merge(called_);
    called_.clear();
  }
  // The object after the webhooks; null: none. It is stored only if a webhook could be called again because of a later change.
  void set_output(const Object* object) {
    output_.reset();
    if (object != nullptr && !called_.empty()) output_.emplace(*object);
  }
  bool changed_since_output(const Object* object) const {
    if (!output_ || object == nullptr) return output_.has_value() != (object != nullptr);
    return !alike_objects(*output_, *object);
  }

 private:
  std::optional<Object> output_;
  std::set<std::string> called_, again_;
};

}  // namespace backplane::admission::webhooks
