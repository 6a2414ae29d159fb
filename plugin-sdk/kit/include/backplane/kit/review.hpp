// Kinds that are evaluated instead of stored: a POST returns the object with its result (TokenReview, SubjectAccessReview …).
//
// Thread-safety: const after construction; any thread.
// Lifetime:      owns a reference to its types.
// Errors:        those of check() and answer(), unchanged.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/request.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Derive from it and implement answer().
//
//   class TokenReviews final : public kit::ReviewStorage {
//     Task<Status> answer(RequestContext& context, Object& review) const override;
//   };
class ReviewStorage : public RestStorage, public Scoper, public SingularNameProvider, public Creater, public ValidatedCreater {
 public:
  // Throws std::invalid_argument if `schemas` does not have the kind.
  ReviewStorage(GroupVersionKind kind, std::shared_ptr<const SchemaSet> schemas, bool namespaced = false);
  ~ReviewStorage() override;

  GroupVersionKind kind() const override { return kind_; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return namespaced_; }
  std::string singular_name() const override;
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override;
  Task<Result<ObjectRef>> create_validated(RequestContext& context, std::string name, Object& object, WriteOptions options,
                                           CreateValidation& validation) override;

 protected:
  // Returns an error to refuse a review that cannot be answered. Called before the validating step of admission. The default refuses no
  // review.
  virtual Status check(const Object& review) const;
  // Writes the result into `review`. Its metadata.namespace is the namespace of the request.
  virtual Task<Status> answer(RequestContext& context, Object& review) const = 0;

 private:
  Status prepare(const RequestContext& context, Object& object) const;
  Task<Result<ObjectRef>> answered(RequestContext& context, Object& object) const;

  GroupVersionKind kind_;
  std::shared_ptr<const SchemaSet> schemas_;
  const Schema* schema_;
  bool namespaced_;
};

// Convert a user to and from JSON: a UserInfo of authentication.k8s.io/v1. `name_key` is the member for the user's name; the specs of
// access reviews use "user".
Object user_info(const UserInfo& user, std::string_view name_key = "username");
UserInfo read_user_info(const Object& object, std::string_view name_key = "username");

}  // namespace BACKPLANE_API
}  // namespace backplane
