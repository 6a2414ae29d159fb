// The exception that is being handled, for a log line: its message and where it was thrown.
//
// Every throw in the process notes its stack (addresses only; a few hundred nanoseconds), so that the code that catches it can report the
// place. Builds with sanitizers leave that to the sanitizer: `stack` is empty there.
//
// Thread-safety: any thread.  A stack is found on the thread that threw, for its last few exceptions.
// Errors:        never throws; what is not known is empty.
#pragma once

#include <string>

namespace backplane {

// False in builds with sanitizers.
extern const bool kThrowsAreNoted;

struct Caught {
  std::string what;   // never empty
  std::string stack;  // one frame a line, innermost first, each line begun by a newline; empty: not known
};

// Call it inside a catch block, catch (...) or narrower.
Caught caught() noexcept;

}  // namespace backplane
