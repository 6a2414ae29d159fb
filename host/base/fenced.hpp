// The fence around a call of plugin code that waits: an exception becomes a value, and the caller goes on where it was.
//
// Thread-safety: called on an executor; the call may end on any.
// Errors:        `on_throw` gets what was thrown and gives the result in its place; it must not throw.
#pragma once

#include <optional>
#include <utility>

#include "base/caught.hpp"
#include "base/origin_executor.hpp"

namespace backplane {

// `call` makes the task (a function object, called once); both function objects live until the task has ended.
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

}  // namespace backplane
