// The virtual destructors of the interfaces. They are defined here, so that their vtables and type information exist only in this library.
// Therefore a dynamic_cast to a role works for objects of any plugin.
#include "backplane/rest/roles.hpp"

#include "backplane/rest/admission_runner.hpp"
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/conversion.hpp"
#include "backplane/rest/object_defaults.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/store_hooks.hpp"
#include "backplane/rest/update_info.hpp"

namespace backplane BACKPLANE_API {

RestStorage::~RestStorage() = default;
Scoper::~Scoper() = default;
ObjectConverter::~ObjectConverter() = default;
SingularNameProvider::~SingularNameProvider() = default;
ShortNamesProvider::~ShortNamesProvider() = default;
CategoriesProvider::~CategoriesProvider() = default;
StorageVersionProvider::~StorageVersionProvider() = default;
TableProvider::~TableProvider() = default;
FieldReader::~FieldReader() = default;
ObjectCursor::~ObjectCursor() = default;
WatchStream::~WatchStream() = default;
Getter::~Getter() = default;
ObjectDefaulter::~ObjectDefaulter() = default;
Lister::~Lister() = default;
Watcher::~Watcher() = default;
AdmissionRunner::~AdmissionRunner() = default;
Creater::~Creater() = default;
NamedCreater::~NamedCreater() = default;
CreateValidation::~CreateValidation() = default;
ValidatedCreater::~ValidatedCreater() = default;
UpdatedObjectInfo::~UpdatedObjectInfo() = default;
Task<Status> UpdatedObjectInfo::may_create(RequestContext&) { co_return Status(); }
Task<Status> UpdatedObjectInfo::change_applied(RequestContext&, Object&, const Object*) { co_return Status(); }
Task<Result<Object>> WrappedObjectInfo::updated_object(RequestContext& context, const Object* existing) {
  auto object = co_await wrapped_.updated_object(context, existing);
  if (!object.ok()) co_return object;
  Status changed = co_await change(context, *object, existing);
  if (!changed.ok()) co_return changed;
  co_return object;
}
Task<Status> WrappedObjectInfo::may_create(RequestContext& context) {
  Status may = co_await wrapped_.may_create(context);
  co_return may;
}
Task<Status> WrappedObjectInfo::change_applied(RequestContext& context, Object& object, const Object* existing) {
  Status changed = co_await wrapped_.change_applied(context, object, existing);
  if (!changed.ok()) co_return changed;
  co_return co_await change(context, object, existing);
}
SubresourceStorage::~SubresourceStorage() = default;
Task<Result<std::vector<Object>>> ObjectConverter::convert_written(GroupVersionKind from, GroupVersionKind to,
                                                                   std::vector<Object> objects) const {
  auto converted = co_await convert(std::move(from), std::move(to), std::move(objects));
  co_return converted;
}
Updater::~Updater() = default;
PatchForbidder::~PatchForbidder() = default;
GracefulDeleter::~GracefulDeleter() = default;
CollectionDeleter::~CollectionDeleter() = default;
Connecter::~Connecter() = default;
StandardStorage::~StandardStorage() = default;
Task<Result<bool>> StandardStorage::transact(RequestContext&, BegunWrite&) {
  co_return internal_error("only a storage of Host::make_storage has transactions");
}

DynamicGroups::~DynamicGroups() = default;

}  // namespace BACKPLANE_API
