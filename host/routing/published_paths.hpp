// The paths that plugins publish and withdraw while the server runs.
//
// Thread-safety: any thread. If no path is published, find() loads one atomic. Otherwise it locks a mutex while it copies one pointer. It
//                does not wait while publish() or withdraw() copies the table.
// Lifetime:      a withdrawn handler is destroyed after the last request that uses it.
// Errors:        publish() returns kAlreadyExists if another plugin has the path; the message names that plugin. withdraw() returns
//                kNotFound if `registrant` has not published the path.
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

// Returns kAlreadyExists with the message `path "/x" is already handled by core`.
Status path_taken(const std::string& path, const std::string& registrant);

class PublishedPaths {
 public:
  Status publish(const std::string& registrant, PathRoute route);
  Status withdraw(const std::string& registrant, const std::string& path);
  // Returns the handler of the longest matching path; null if no path matches.
  std::shared_ptr<HttpHandler> find(std::string_view path) const;
  // Returns the sorted paths that GET / lists.
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

  std::mutex mutex_;  // locked by publish() and withdraw()
  std::atomic<bool> any_{false};
  kit::Published<Rows> rows_{std::make_shared<const Rows>()};
};

}  // namespace backplane
