// The exception with which a function that cannot return an error ends a request: the endpoint catches it and sends its Status.
//
// Thread-safety: a value.
#pragma once

#include <stdexcept>
#include <utility>

#include "backplane/core/status.hpp"

namespace backplane {

class StatusException final : public std::runtime_error {
 public:
  explicit StatusException(Status status) : std::runtime_error(status.message()), status_(std::move(status)) {}
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace backplane
