#include "namespaces/storage.hpp"
#include "backplane/core/request.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::core {
namespace {

class FinalizeStorage final : public RestStorage, public Scoper, public Updater, public PatchForbidder {
 public:
  bool admits_writes() const noexcept override { return true; }
  explicit FinalizeStorage(std::shared_ptr<SubresourceStorage> subresource) : subresource_(std::move(subresource)) {}

  GroupVersionKind kind() const override { return subresource_->kind(); }
  const Schema* schema() const override { return subresource_->schema(); }
  bool namespaced() const override { return false; }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    return subresource_->update(context, std::move(name), info, std::move(options), force_allow_create);
  }

 private:
  std::shared_ptr<SubresourceStorage> subresource_;
};

}  // namespace

std::shared_ptr<RestStorage> make_finalize_storage(std::shared_ptr<SubresourceStorage> subresource) {
  return std::make_shared<FinalizeStorage>(std::move(subresource));
}

}  // namespace backplane::core
