// One step of a transformation. A prefix of the stored value selects the step; the step defines the format of the bytes after the prefix.
//
// Thread-safety: every method from any thread.
// Lifetime:      shared. The caller of read() or write() must hold the step until the task has ended.
// Errors:        Failure with upstream's text.
// Source:        k8s.io/apiserver/pkg/storage/value (Transformer, PrefixTransformer).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/task.hpp"
#include "metrics.hpp"
#include "outcome.hpp"

namespace backplane::encryption {

struct ReadValue {
  SharedBytes bytes;
  bool stale = false;
};

// `bound_to`: the storage key of the value, which is authenticated together with the value.
class Step {
 public:
  virtual ~Step() = default;
  // read_now() and write_now() do not wait. They return nullopt if the value must wait.
  virtual std::optional<Outcome<ReadValue>> read_now(std::string_view bound_to, const SharedBytes& data) const = 0;
  // `prefix` is written before the value.
  virtual std::optional<Outcome<SharedBytes>> write_now(std::string_view bound_to, const SharedBytes& plain,
                                                        std::string_view prefix) const = 0;
  // The defaults call the two functions above, for steps that never wait.
  virtual Task<Outcome<ReadValue>> read(std::string bound_to, SharedBytes data) const;
  virtual Task<Outcome<SharedBytes>> write(std::string bound_to, SharedBytes plain, std::string prefix) const;
};
using StepRef = std::shared_ptr<const Step>;

// The identity step: values are unchanged. Reading a value that another step has written is an error.
StepRef identity_step();
StepRef cipher_step(std::shared_ptr<const class Cipher> cipher);

struct PrefixedStep {
  std::string prefix;  // empty: the identity step
  StepRef step;
};

// Writes with the first of its steps. Reads with the first step that has the value's prefix and can read the value. The value is stale if
// this is not the first of all steps.
class PrefixChoice final : public Step {
 public:
  // `resource`: a label of the metrics. `no_match`: the error for a value without a known prefix. Precondition: `steps` is not empty.
  PrefixChoice(std::string_view resource, std::string no_match, std::vector<PrefixedStep> steps);
  ~PrefixChoice() override;

  std::optional<Outcome<ReadValue>> read_now(std::string_view bound_to, const SharedBytes& data) const override;
  std::optional<Outcome<SharedBytes>> write_now(std::string_view bound_to, const SharedBytes& plain,
                                                std::string_view prefix) const override;
  Task<Outcome<ReadValue>> read(std::string bound_to, SharedBytes data) const override;
  Task<Outcome<SharedBytes>> write(std::string bound_to, SharedBytes plain, std::string prefix) const override;

 private:
  struct Entry;
  class Reading;
  Outcome<SharedBytes> written(Outcome<SharedBytes> outcome, std::chrono::steady_clock::time_point begin) const;

  const std::string no_match_;
  std::vector<std::unique_ptr<const Entry>> entries_;
  const TransformationCount unknown_;
};

// Joins the texts of errors like upstream: without repetitions, and in brackets if there are several.
std::string joined_errors(const std::vector<Failure>& errors);

}  // namespace backplane::encryption
