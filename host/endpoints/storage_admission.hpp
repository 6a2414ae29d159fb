// Runs admission of writes to storages that do not run it themselves (RestStorage::admits_writes() is false).
//
// Thread-safety: any thread.
// Lifetime:      an AdmittedUpdate borrows the arguments of its constructor, for one request.
// Errors:        those of the admission plugins, unchanged.
#pragma once

#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// The UpdatedObjectInfo of a PUT, PATCH or apply. For each attempt of the storage, it computes the object, updates its managedFields, and
// runs mutating and validating admission.
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

// Calls resource.updater->update(). If the storage does not run admission itself, this function runs it.
Task<Result<UpdateResult>> update_admitted(const Resource& resource, RequestContext& context, UpdatedObjectInfo& info, WriteOptions options,
                                           bool force_allow_create);
// Runs admission of a deletion. If `name` is empty, a collection is deleted. Otherwise, admission gets the stored object if the storage is
// a Getter.
Task<Status> admit_remove(const Resource& resource, RequestContext& context, std::string name, DeleteOptions options);

}  // namespace backplane::endpoints
