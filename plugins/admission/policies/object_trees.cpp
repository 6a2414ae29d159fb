#include "policies/object_trees.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/net/informer.hpp"

namespace backplane::admission::policies {

ObjectTreeRef ObjectTrees::tree_of(const ObjectRef& object) {
  const std::string key = object_key(*object);
  {
    const std::lock_guard lock(mutex_);
    const auto found = trees_.find(key);
    if (found != trees_.end() && found->second->object == object) return found->second;
  }
  Object tree = decode(*object, {});
  if (prepare_) prepare_(tree);
  auto made = std::make_shared<const ObjectTree>(ObjectTree{object, std::move(tree)});
  const std::lock_guard lock(mutex_);
  if (trees_.size() >= kMost) trees_.clear();
  trees_[key] = made;
  return made;
}

void prepare_namespace(Object& tree) {
  for (const char* name : {"kind", "apiVersion"}) erase_member(tree, name);
  Object* metadata = mutable_object(tree, "metadata");
  if (metadata == nullptr) return;
  for (const char* name : {"managedFields", "ownerReferences", "selfLink"}) erase_member(*metadata, name);
}

}  // namespace backplane::admission::policies
