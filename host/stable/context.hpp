// A plugin of the stable tier inside the host: what its tables' functions work with.
//
// Thread-safety: provision() fills it on one thread; afterwards it is read by every thread.
// Lifetime:      that of the plugin (plugin.cpp); registrations refer to it.
// Errors:        none.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/net/client.hpp"
#include "stable/call_threads.hpp"
#include "stable/words.hpp"

namespace backplane::stable {
class Controllers;
}  // namespace backplane::stable

struct bp_context {
  explicit bp_context(std::string plugin_name);
  ~bp_context();
  bp_context(const bp_context&) = delete;
  bp_context& operator=(const bp_context&) = delete;
  // The first thing of provision().
  void begin(backplane::Host& its_host);

  const std::string name;
  backplane::Host* host = nullptr;
  std::optional<backplane::stable::CallThreads> threads;
  std::shared_ptr<backplane::HttpClient> client;
  std::unique_ptr<backplane::stable::Controllers> controllers;  // null: no informers
  bp_host table{};
};

namespace backplane::stable {

// The table of the host with this name; null if there is none, or not in this version.
const void* find_table(std::string_view name, std::uint32_t version);

}  // namespace backplane::stable
