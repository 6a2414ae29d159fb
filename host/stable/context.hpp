// The state of a plugin of the stable tier in the host, for the functions of the host's tables.
//
// Thread-safety: provision() fills it on one thread; afterwards it is read by every thread.
// Lifetime:      that of the plugin (plugin.cpp); registrations refer to it.
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
  // The threads for calls of kinds, if they block. None of these calls waits for the server, so none waits for another one.
  std::optional<backplane::stable::CallThreads> kind_threads;
  std::shared_ptr<backplane::HttpClient> client;
  std::unique_ptr<backplane::stable::Controllers> controllers;  // null: no informers
  bp_host table{};
};

namespace backplane::stable {

// The table of the host with this name; null if there is none, or not in this version.
const void* find_table(std::string_view name, std::uint32_t version);

}  // namespace backplane::stable
