// The result of one step of a transformation: a value, or the failure with the text of upstream's error.
//
// Thread-safety: values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "backplane/core/status.hpp"

namespace backplane::encryption {

struct Failure {
  std::string text;
  std::string_view grpc_code = {};  // the code of a failed call to a KMS plugin (grpc::code_name()); empty: no call has failed

  // The value of the label `status`, and of `grpc_status_code`.
  std::string_view code() const noexcept { return grpc_code.empty() ? "unknown-non-grpc" : grpc_code; }
  // 500 with the unchanged text.
  Status status() const { return Status(500, Reason::kInternalError, text); }
};

struct Done {};

template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : either_(std::in_place_index<0>, std::move(value)) {}            // NOLINT: a value is an outcome
  Outcome(Failure failure) : either_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT: so is a failure

  bool ok() const noexcept { return either_.index() == 0; }
  T& operator*() { return std::get<0>(either_); }
  const T& operator*() const { return std::get<0>(either_); }
  T* operator->() { return &std::get<0>(either_); }
  const T* operator->() const { return &std::get<0>(either_); }
  const Failure& failure() const { return std::get<1>(either_); }
  Failure take_failure() { return std::move(std::get<1>(either_)); }

 private:
  std::variant<T, Failure> either_;
};

}  // namespace backplane::encryption
