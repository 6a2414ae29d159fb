// A bp_error for a call that is made for every request. It is zero at the beginning of the call, as the C headers promise.
//
// Zeroing its kilobyte takes longer than most calls. Each thread has one that is zeroed again only after a call that has written to it.
//
// Thread-safety: on the stack of one thread.
// Lifetime:      nested calls on one thread have separate errors.
// Errors:        none.
#pragma once

#include "backplane/stable/base.h"

namespace backplane::stable {

class CallError {
 public:
  CallError() noexcept : shared_(!used_) {
    if (shared_) {
      used_ = true;
    } else {
      own_ = {};
    }
  }
  ~CallError() {
    if (!shared_) return;
    used_ = false;
    if (of_thread_.code != 0 || of_thread_.reason[0] != '\0' || of_thread_.message[0] != '\0') of_thread_ = {};
  }
  CallError(const CallError&) = delete;
  CallError& operator=(const CallError&) = delete;
  bp_error* get() noexcept { return shared_ ? &of_thread_ : &own_; }

 private:
  static inline constinit thread_local bp_error of_thread_{};
  static inline constinit thread_local bool used_ = false;
  const bool shared_;
  bp_error own_;
};

}  // namespace backplane::stable
