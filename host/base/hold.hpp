// Ties what a plugin hands over to the plugin's generation: the code stays mapped and the plugin stays alive as long as one tied object or
// function does.  A request that uses a tied object thereby counts as in flight, at the price of the reference that it takes anyway.
//
// Thread-safety: as std::shared_ptr and std::function.
// Lifetime:      the object is destroyed before its hold is released.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace backplane {

// Null: nothing is held.
using Hold = std::shared_ptr<const void>;

namespace detail {

template <class T>
struct Tied {
  Hold hold;  // first: released last
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
