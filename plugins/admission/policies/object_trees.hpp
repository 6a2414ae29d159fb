// Cached objects as trees: an object is parsed when an expression first reads it, once for each of its revisions.
//
// Thread-safety: any thread; the lock is held while one entry is looked up.
// Lifetime:      trees are shared; a tree lives as long as a request uses it.
// Errors:        none; an object that cannot be read is null.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backplane/core/object.hpp"

namespace backplane::admission::policies {

// One revision of an object.
struct ObjectTree {
  ObjectRef object;
  Object tree;
};
using ObjectTreeRef = std::shared_ptr<const ObjectTree>;

class ObjectTrees {
 public:
  // `prepare`: changes each tree once before it is shared; may be empty.
  explicit ObjectTrees(std::function<void(Object& tree)> prepare = {}) : prepare_(std::move(prepare)) {}
  ObjectTreeRef tree_of(const ObjectRef& object);

 private:
  // The maximum number of trees, after which all are dropped, because clients choose the names.
  static constexpr std::size_t kMost = 4096;

  const std::function<void(Object& tree)> prepare_;
  std::mutex mutex_;
  std::unordered_map<std::string, ObjectTreeRef> trees_;  // by namespace and name
};

// Changes the tree of a namespace to the value of namespaceObject in expressions.
void prepare_namespace(Object& tree);

}  // namespace backplane::admission::policies
