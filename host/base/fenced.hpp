// The fence around a call of plugin code: an exception becomes a value.
//
// Thread-safety: called on an executor; a call that waits may end on any, and fenced() resumes where it began.
// Errors:        `on_throw` gets what was thrown and returns the result in its place; it must not throw.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "backplane/core/status.hpp"
#include "base/caught.hpp"
#include "base/origin_executor.hpp"

namespace backplane {

// For a call that waits.  `call` makes the task (a function object, called once); both function objects live until the task has ended.
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

// For a call that does not wait.
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
  bool threw = false;  // then `status` is kInternalError with the exception's text
};
// For a call that returns a Status.
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
