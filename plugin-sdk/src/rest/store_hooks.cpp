// Default implementations of hooks.
#include "backplane/rest/store_hooks.hpp"

#include "backplane/points/admission.hpp"

namespace backplane BACKPLANE_API {

StoreTransaction::~StoreTransaction() = default;

BegunWrite::~BegunWrite() = default;
Task<Result<bool>> BegunWrite::join(RequestContext&, StoreTransaction&) { co_return true; }
Task<void> BegunWrite::finish(bool) { co_return; }

StoreHooks::~StoreHooks() = default;
Task<Result<StoreHooks::Begun>> StoreHooks::begin_create(RequestContext&, Object&, bool) const { co_return Begun(); }
Task<Result<StoreHooks::Begun>> StoreHooks::begin_update(RequestContext&, Object&, const Object&, bool) const { co_return Begun(); }
Task<Result<StoreHooks::Begun>> StoreHooks::begin_delete(RequestContext&, const Object&) const { co_return Begun(); }
void StoreHooks::after_create(RequestContext&, const ObjectRef&) const {}
void StoreHooks::after_update(RequestContext&, const ObjectRef&) const {}
void StoreHooks::after_delete(RequestContext&, const ObjectRef&) const {}

// Defined here, not in src/points, because the type BegunWrite is complete only here.
Task<Result<std::unique_ptr<BegunWrite>>> AdmissionPlugin::begin(const AdmissionAttributes&) const {
  co_return std::unique_ptr<BegunWrite>();
}

}  // namespace BACKPLANE_API
