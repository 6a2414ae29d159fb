// The key functions of every contract class: their vtables and type information live in this library alone, so that a cast to a role
// works on objects made by any plugin.
#include "backplane/admits_writes.hpp"
#include "backplane/codec.hpp"
#include "backplane/deleted_object.hpp"
#include "backplane/plugin.hpp"
#include "backplane/storage_revision.hpp"
#include "backplane/written_conversion.hpp"

namespace backplane BACKPLANE_API {

RestStorage::~RestStorage() = default;
Scoper::~Scoper() = default;
ObjectConverter::~ObjectConverter() = default;
WrittenConverter::~WrittenConverter() = default;
SingularNameProvider::~SingularNameProvider() = default;
ShortNamesProvider::~ShortNamesProvider() = default;
CategoriesProvider::~CategoriesProvider() = default;
StorageVersionProvider::~StorageVersionProvider() = default;
TableProvider::~TableProvider() = default;
FieldReader::~FieldReader() = default;
DeprecationProvider::~DeprecationProvider() = default;
DeletedObjectProvider::~DeletedObjectProvider() = default;
ObjectCursor::~ObjectCursor() = default;
WatchStream::~WatchStream() = default;
Getter::~Getter() = default;
Lister::~Lister() = default;
Watcher::~Watcher() = default;
AdmissionRunner::~AdmissionRunner() = default;
AdmitsWrites::~AdmitsWrites() = default;
Creater::~Creater() = default;
NamedCreater::~NamedCreater() = default;
UpdatedObjectInfo::~UpdatedObjectInfo() = default;
Task<Status> UpdatedObjectInfo::may_create(RequestContext&) { co_return Status(); }
Updater::~Updater() = default;
PatchForbidder::~PatchForbidder() = default;
GracefulDeleter::~GracefulDeleter() = default;
CollectionDeleter::~CollectionDeleter() = default;
Connecter::~Connecter() = default;
Codec::~Codec() = default;
ItemSink::~ItemSink() = default;
StorageTransformer::~StorageTransformer() = default;
StandardStorage::~StandardStorage() = default;

Signal::~Signal() = default;
HealthCheck::~HealthCheck() = default;
Logger::~Logger() = default;
DynamicGroups::~DynamicGroups() = default;
DynamicPaths::~DynamicPaths() = default;
Host::~Host() = default;
StorageWatch::~StorageWatch() = default;
RaisableRevision::~RaisableRevision() = default;
StorageBackend::~StorageBackend() = default;
Task<Status> StorageBackend::request_progress() { co_return Status(); }

Plugin::~Plugin() = default;
Status Plugin::configure(std::string_view) { return {}; }
Status Plugin::validate() { return {}; }

}  // namespace BACKPLANE_API
