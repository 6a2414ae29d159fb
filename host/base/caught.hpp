// Describes the exception that is being handled, for a log line: its message, and the stack at which it was thrown.
//
// Every throw in the process records its stack (addresses only; a few hundred nanoseconds), so that a catch block can log it. Builds with
// sanitizers do not record stacks, because the sanitizer intercepts throws itself; there `stack` is empty.
//
// Thread-safety: any thread.  Each thread has the stacks of its last few exceptions; for an exception of another thread `stack` is empty.
// Errors:        never throws.
#pragma once

#include <string>

namespace backplane {

// True if throws record their stack; false in builds with sanitizers.
extern const bool kRecordsThrowStacks;

struct Caught {
  std::string what;   // never empty
  std::string stack;  // "\n" and a text for each frame, the innermost frame first; empty: unknown
};

// To be called inside a catch block.
Caught caught() noexcept;

}  // namespace backplane
