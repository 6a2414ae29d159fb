// Ties objects and functions of a plugin to the plugin: as long as one tied object or function exists, the plugin is not destroyed and its
// code stays mapped.  So a request that has a reference to a tied object keeps the plugin loaded, without a separate reference count.
//
// Thread-safety: as std::shared_ptr and std::function.
// Lifetime:      a tied object is destroyed before its hold is released.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace backplane {

// A reference that keeps one load of a plugin alive. Null: it keeps nothing alive.
using Hold = std::shared_ptr<const void>;

namespace detail {

template <class T>
struct Tied {
  Hold hold;  // the first member, so that it is released last
  std::shared_ptr<T> object;
};

template <class Function>
struct TiedFunction {
  Hold hold;
  Function function;
  template <class... Args>
  auto operator()(Args&&... args) const {
    return function(std::forward<Args>(args)...);
  }
};

}  // namespace detail

template <class T>
std::shared_ptr<T> tied(const Hold& hold, std::shared_ptr<T> object) {
  if (!hold || !object) return object;
  T* const raw = object.get();
  return std::shared_ptr<T>(std::make_shared<detail::Tied<T>>(detail::Tied<T>{hold, std::move(object)}), raw);
}

template <class R, class... Args>
std::function<R(Args...)> tied(const Hold& hold, std::function<R(Args...)> function) {
  if (!hold || !function) return function;
  return detail::TiedFunction<std::function<R(Args...)>>{hold, std::move(function)};
}

}  // namespace backplane
