#include "backplane/kit/forwarding_storage.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

void ForwardingStorage::set_defaults(Value& object) const {
  if (const auto* defaults = role_of<ObjectDefaulter>(store_.get())) {
    defaults->set_defaults(object);
  } else if (store_->schema() != nullptr) {
    store_->schema()->apply_defaults(object);
  }
}
Task<Result<ObjectRef>> ForwardingStorage::get(RequestContext& context, std::string name, GetOptions options) {
  return store_->get(context, std::move(name), std::move(options));
}
Task<Result<ListResult>> ForwardingStorage::list(RequestContext& context, ListOptions options) {
  return store_->list(context, std::move(options));
}
Task<Result<std::unique_ptr<WatchStream>>> ForwardingStorage::watch(RequestContext& context, ListOptions options) {
  return store_->watch(context, std::move(options));
}
Task<Result<ObjectRef>> ForwardingStorage::create(RequestContext& context, Object& object, WriteOptions options) {
  return store_->create(context, object, std::move(options));
}
Task<Result<UpdateResult>> ForwardingStorage::update(RequestContext& context, std::string name, UpdatedObjectInfo& info,
                                                     WriteOptions options, bool force_allow_create) {
  return store_->update(context, std::move(name), info, std::move(options), force_allow_create);
}
Task<Result<DeleteResult>> ForwardingStorage::remove(RequestContext& context, std::string name, DeleteOptions options) {
  return store_->remove(context, std::move(name), std::move(options));
}
Task<Result<ListResult>> ForwardingStorage::remove_collection(RequestContext& context, DeleteOptions options, ListOptions list) {
  return store_->remove_collection(context, std::move(options), std::move(list));
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
