// A signal for a plugin: it forwards to a signal of the host. If a callback throws, the log has the exception and the plugin's name.
//
// Thread-safety: as the signal that it forwards to.
// Lifetime:      callbacks may run after this object was destroyed; the host's signal outlives this object.
#pragma once

#include <string>

#include "backplane/points/hooks.hpp"
#include "plugin/fenced_hooks.hpp"

namespace backplane {

class FencedSignal final : public Signal {
 public:
  FencedSignal(std::string plugin, Signal& signal) : plugin_(std::move(plugin)), signal_(signal) {}
  std::string_view name() const noexcept override { return signal_.name(); }
  void fire() override { signal_.fire(); }
  bool fired() const noexcept override { return signal_.fired(); }
  Task<void> wait() override { return signal_.wait(); }
  void on_fire(std::function<void()> callback) override {
    signal_.on_fire(fenced_callback(plugin_, "callback of the signal " + std::string(name()), std::move(callback)));
  }

 private:
  std::string plugin_;
  Signal& signal_;
};

}  // namespace backplane
