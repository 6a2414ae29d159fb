// Calls plugin code and converts an exception to a value.
//
// Thread-safety: the task of a plugin may end on another executor than it began on; fenced() resumes on the executor on which it was
// called. Errors:        if the call throws, `on_throw` receives the exception (Caught) and returns the result; it must not throw.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "backplane/core/status.hpp"
#include "base/caught.hpp"
#include "base/origin_executor.hpp"

namespace backplane {

// For asynchronous calls.  The function object `call` returns the task; it is called once. Both function objects live until the task has
// ended.
template <class T, class Call, class OnThrow>
Task<T> fenced(Call call, OnThrow on_throw) {
  const OriginExecutor origin;
  std::optional<T> result;
  try {
    auto task = call();
    result.emplace(co_await std::move(task));
  } catch (...) {
    result.emplace(on_throw(caught()));
  }
  co_await origin;
  co_return std::move(*result);
}

// For synchronous calls.
template <class Call, class OnThrow>
std::invoke_result_t<Call&> fenced_now(Call&& call, OnThrow on_throw) {
  try {
    return call();
  } catch (...) {
    return on_throw(caught());
  }
}

struct FencedCall {
  Status status;
  bool threw = false;  // true: the call has thrown, and `status` is kInternalError with the exception's message
};
// For synchronous calls that return a Status.
template <class Call>
FencedCall fenced_status(Call&& call) {
  FencedCall made;
  made.status = fenced_now([&]() -> Status { return call(); },
                           [&made](const Caught& error) {
                             made.threw = true;
                             return Status(Reason::kInternalError, error.what);
                           });
  return made;
}

}  // namespace backplane
