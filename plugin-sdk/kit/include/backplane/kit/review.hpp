// Kinds that are asked and not stored: a POST gives the object back with its answer (TokenReview, SubjectAccessReview …).
//
// Thread-safety: const after construction; any thread.
// Lifetime:      keeps its types alive.
// Errors:        those of answer(), as they are.
#pragma once

#include <memory>
#include <string>

#include "backplane/rest/roles.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

class ReviewStorage : public RestStorage, public Scoper, public SingularNameProvider, public Creater {
 public:
  // Throws std::invalid_argument when `schemas` has no such kind.
  ReviewStorage(GroupVersionKind kind, std::shared_ptr<const SchemaSet> schemas, bool namespaced = false);
  ~ReviewStorage() override;

  GroupVersionKind kind() const override { return kind_; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return namespaced_; }
  std::string singular_name() const override;
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override;

 protected:
  // Writes the answer into `review`, whose metadata.namespace is the request's.
  virtual Task<Status> answer(RequestContext& context, Object& review) const = 0;

 private:
  GroupVersionKind kind_;
  std::shared_ptr<const SchemaSet> schemas_;
  const Schema* schema_;
  bool namespaced_;
};

// A user as authentication.k8s.io/v1 UserInfo, and as the specs of reviews and requests name them (`name_key`: "username", "user").
Object user_info(const UserInfo& user, std::string_view name_key = "username");
UserInfo read_user_info(const Object& object, std::string_view name_key = "username");

}  // namespace BACKPLANE_API
}  // namespace backplane
