// The state that the host keeps for a plugin of the stable tier. The functions of the host's tables use it.
//
// Thread-safety: provision() fills it on one thread; afterwards it is read by every thread.
// Lifetime:      that of the plugin (bridge.cpp); registrations refer to it.
// Errors:        none.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/net/client.hpp"
#include "stable/call_threads.hpp"
#include "stable/conversions.hpp"

namespace backplane::stable {
class Controllers;
}  // namespace backplane::stable

struct bp_context {
  // `its_process`: whether the process of the plugin answers calls; empty: it runs in this process.
  explicit bp_context(std::string plugin_name, std::function<backplane::Status()> its_process = {});
  ~bp_context();
  bp_context(const bp_context&) = delete;
  bp_context& operator=(const bp_context&) = delete;
  // Called first in provision().
  void begin(backplane::Host& its_host);

  const std::string name;
  const std::function<backplane::Status()> process;
  backplane::Host* host = nullptr;
  std::optional<backplane::stable::CallThreads> threads;
  // The threads for callbacks of kinds; nullopt if the plugin runs in this process. Such a callback never waits for the server, so it never
  // waits for another callback of a kind.
  std::optional<backplane::stable::CallThreads> kind_threads;
  std::shared_ptr<backplane::HttpClient> client;
  std::unique_ptr<backplane::stable::Controllers> controllers;  // null: no informers
  bp_host table{};
};

namespace backplane::stable {

// The host's table of this name; null if there is none, or if its version is lower than `version`.
const void* find_table(std::string_view name, std::uint32_t version);

}  // namespace backplane::stable
