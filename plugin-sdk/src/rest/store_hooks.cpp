// What a hook does that says nothing.
#include "backplane/rest/store_hooks.hpp"

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

}  // namespace BACKPLANE_API
