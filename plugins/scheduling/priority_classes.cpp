#include "priority_classes.hpp"

#include <algorithm>

#include "kinds.hpp"

namespace backplane::scheduling {

Task<Result<DeleteResult>> PriorityClasses::remove(RequestContext& context, std::string name, DeleteOptions options) {
  const bool kept = std::any_of(kSystemClasses.begin(), kSystemClasses.end(), [&](const SystemClass& each) { return each.name == name; });
  if (kept) co_return forbidden("scheduling.k8s.io", "priorityclasses", name, "this is a system priority class and cannot be deleted");
  co_return co_await ForwardingStorage::remove(context, std::move(name), std::move(options));
}

}  // namespace backplane::scheduling
