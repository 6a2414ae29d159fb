// Admission of writes to storages that do not run it themselves (RestStorage::admits_writes is false).
//
// Thread-safety: any thread.
// Lifetime:      an AdmittedUpdate borrows what it is made of, for one request.
// Errors:        those of the admission plugins, unchanged.
#pragma once

#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// The update of a PUT, PATCH or apply: computes the object, records its managers, then runs mutating and validating admission, for every
// try of the storage.
class AdmittedUpdate final : public UpdatedObjectInfo {
 public:
  AdmittedUpdate(const Resource& resource, UpdatedObjectInfo& sent, WriteOptions options)
      : resource_(resource), sent_(sent), options_(std::move(options)) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override;
  Preconditions preconditions() const override { return sent_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override;

 private:
  const Resource& resource_;
  UpdatedObjectInfo& sent_;
  const WriteOptions options_;
};

// Calls resource.updater->update(). The storage runs admission if it has that role, else this function runs it.
Task<Result<UpdateResult>> update_admitted(const Resource& resource, RequestContext& context, UpdatedObjectInfo& info, WriteOptions options,
                                           bool force_allow_create);
// Admission of a delete of `name`, with the stored object when the storage can be read; an empty name: of a collection.
Task<Status> admit_remove(const Resource& resource, RequestContext& context, std::string name, DeleteOptions options);

}  // namespace backplane::endpoints
