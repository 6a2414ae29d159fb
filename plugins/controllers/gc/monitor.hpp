// Watches the objects of one resource without caching them: passes each event to a callback.
//
// Thread-safety: the plugin's executor, except stop().
// Lifetime:      run() keeps the monitor alive; stop() ends it.
// Errors:        a failed watch is logged once and retried with growing pauses, each time in the next served version: a version that needs
//                no conversion works if the conversion webhook does not.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frame/context.hpp"
#include "gc/types.hpp"

namespace backplane::controllers {

class Monitor : public std::enable_shared_from_this<Monitor> {
 public:
  struct Callbacks {
    // `initial`: part of the first list, or of one after missed events.
    std::function<void(const ServedType& type, const WatchEvent& event, bool initial)> event;
    // Called when a list begins. If the list before is not complete, listed() is not called for it. May be empty.
    std::function<void(const ServedType& type)> listing;
    // Called when a list is complete: objects that it lacks do not exist any more.
    std::function<void(const ServedType& type)> listed;
  };
  Monitor(const Context& context, Collectable resource, Callbacks callbacks);

  Task<void> run();
  void stop();
  // True if the first list is complete, or has failed once.
  bool first_list_done() const noexcept { return first_list_done_; }
  const Collectable& resource() const noexcept { return resource_; }

 private:
  Task<Status> follow();
  Task<Status> list_and_watch();
  Task<Status> take(std::shared_ptr<WatchStream> stream, bool initial);
  const ServedType& type() const { return resource_.versions[version_ % resource_.versions.size()]; }
  std::shared_ptr<ListerWatcher> source() const;

  Context context_;
  const Collectable resource_;
  const Callbacks callbacks_;
  std::size_t version_ = 0;
  Revision revision_ = 0;  // 0: list first
  bool first_list_done_ = false;
  bool reported_ = false;
  bool stopped_ = false;
  std::shared_ptr<WatchStream> stream_;
};

// Makes a monitor of a namespaced resource of this server. The caller must call run(). The monitor stops at the end of the term.
std::shared_ptr<Monitor> make_monitor(const Context& context, GroupVersionResource resource, std::string kind,
                                      Monitor::Callbacks callbacks);

}  // namespace backplane::controllers
