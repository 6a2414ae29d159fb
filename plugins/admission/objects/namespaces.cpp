#include "objects/namespaces.hpp"

namespace backplane::admission::objects {

Task<Result<ObjectRef>> Namespaces::find(const AdmissionAttributes& attributes) const {
  auto waiting = wait_synced(lister_, attributes);
  Status ready = co_await std::move(waiting);
  if (!ready.ok()) co_return ready;
  if (ObjectRef known = lister_.find("", attributes.ns)) co_return known;
  auto reading = read_live(host_, {"", "v1", "namespaces"}, {}, attributes.ns);
  auto found = co_await std::move(reading);
  co_return found;
}

}  // namespace backplane::admission::objects
