#include "definition_status.hpp"
#include "backplane/core/request.hpp"
#include "backplane/rest/update_info.hpp"

namespace backplane::apiextensions {
namespace {

class StatusChange final : public UpdatedObjectInfo {
 public:
  StatusChange(std::function<void(Object&)> change, std::string uid) : change_(std::move(change)), uid_(std::move(uid)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    Object object = existing ? Object(*existing, context.arena()) : Object(context.arena());
    change_(object);
    co_return object;
  }
  Preconditions preconditions() const override {
    Preconditions wanted;
    wanted.uid = uid_;
    return wanted;
  }

 private:
  std::function<void(Object&)> change_;
  std::string uid_;
};

}  // namespace

Task<Result<ObjectRef>> DefinitionStatus::write(std::string name, std::string uid, std::function<void(Object&)> change) const {
  const std::shared_ptr<SubresourceStorage> storage = storage_;
  RequestContext context;
  // Managed fields record the change with the manager kube-apiserver and the subresource status.
  context.user_agent = "kube-apiserver";
  context.info.subresource = "status";
  StatusChange info(std::move(change), std::move(uid));
  WriteOptions options;
  auto updated = co_await storage->update(context, std::move(name), info, std::move(options), false);
  if (!updated.ok()) co_return std::move(updated.status());
  co_return std::move(updated->object);
}

bool is_gone(const Status& status) noexcept { return status.reason() == Reason::kNotFound || status.reason() == Reason::kConflict; }

}  // namespace backplane::apiextensions
