// Objects that the server computes, with a history, so that clients can list and watch them.
//
// Thread-safety: any thread.
// Lifetime:      a stream may outlive its ComputedObjects, and then gets no more events.
// Errors:        watch(): kExpired `too old resource version: N (M)` for a revision that is no longer in the history, or of an earlier run
//                of the server; kBadRequest for a resourceVersion that is not a number.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/options.hpp"
#include "backplane/rest/results.hpp"

namespace backplane {

class ComputedObjects : public std::enable_shared_from_this<ComputedObjects> {
 public:
  // All objects are of the kind `kind` and have no namespace. Revisions begin at the time of the construction, so that they grow over
  // restarts.
  ComputedObjects(std::string kind, std::string api_version);

  // Replaces all objects. `objects`: by name, without a resourceVersion. Each difference from the previous call becomes a watch event.
  void set(const std::map<std::string, Object>& objects);

  ObjectRef find(const std::string& name) const;
  struct List {
    Revision revision = 0;
    std::vector<ObjectRef> objects;  // by name
  };
  List list() const;
  Result<std::unique_ptr<WatchStream>> watch(const ListOptions& options);

 private:
  class Stream;
  struct Item {
    std::string text;  // without the resourceVersion
    ObjectRef object;
  };
  ObjectRef entry_of(const std::string& name, const std::string& text, Revision revision) const;
  WatchEvent initial_end(Revision revision) const;

  const std::string kind_, api_version_;
  mutable std::mutex mutex_;
  Revision revision_;
  Revision floor_;  // events after this revision are in the history
  std::map<std::string, Item> items_;
  std::deque<WatchEvent> history_;
  std::vector<std::weak_ptr<Stream>> streams_;
};

// True if the label and field selectors of `options` match `object`. The only field label is metadata.name.
bool selects(const ListOptions& options, const ObjectEntry& object);

}  // namespace backplane
