// Paths that plugins publish and withdraw while the server runs.
//
// Thread-safety: every method from any thread. find() loads one atomic while nothing is published; otherwise it locks a mutex while it
//                copies one pointer, and never waits for publish() or withdraw() to copy the table.
// Lifetime:      a withdrawn handler is destroyed after the last request that uses it.
// Errors:        publish(): kAlreadyExists, naming the plugin that has the path. withdraw(): kNotFound if `registrant` has not published
//                the path.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/kit/published.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"

namespace backplane {

// kAlreadyExists `path "/x" is already handled by core`.
Status path_taken(const std::string& path, const std::string& registrant);

class PublishedPaths {
 public:
  Status publish(const std::string& registrant, PathRoute route);
  Status withdraw(const std::string& registrant, const std::string& path);
  // The handler of the longest matching path; null if none matches.
  std::shared_ptr<HttpHandler> find(std::string_view path) const;
  // The paths that GET / lists, sorted.
  std::vector<std::string> listed() const;

 private:
  struct Row {
    PathRoute route;
    std::string registrant;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Rows = std::unordered_map<std::string, std::shared_ptr<const Row>, Hash, std::equal_to<>>;
  void store(std::shared_ptr<const Rows> rows);

  std::mutex mutex_;  // writers
  std::atomic<bool> any_{false};
  kit::Published<Rows> rows_{std::make_shared<const Rows>()};
};

}  // namespace backplane
