#include "namespaces/storage.hpp"

namespace backplane::core {
namespace {

class NamespaceStorage final : public RestStorage,
                               public Scoper,
                               public SingularNameProvider,
                               public ShortNamesProvider,
                               public CategoriesProvider,
                               public StorageVersionProvider,
                               public TableProvider,
                               public Getter,
                               public Lister,
                               public Watcher,
                               public Creater,
                               public Updater,
                               public GracefulDeleter {
 public:
  explicit NamespaceStorage(std::shared_ptr<StandardStorage> store) : store_(std::move(store)) {}

  GroupVersionKind kind() const override { return store_->kind(); }
  const Schema* schema() const override { return store_->schema(); }
  bool namespaced() const override { return store_->namespaced(); }
  std::string singular_name() const override { return store_->singular_name(); }
  std::vector<std::string> short_names() const override { return store_->short_names(); }
  std::vector<std::string> categories() const override { return store_->categories(); }
  GroupVersionKind storage_version() const override { return store_->storage_version(); }
  const TableConvertor& table_convertor() const override { return store_->table_convertor(); }
  std::string list_kind() const override { return store_->list_kind(); }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    return store_->get(context, std::move(name), std::move(options));
  }
  Task<Result<ListResult>> list(RequestContext& context, ListOptions options) override { return store_->list(context, std::move(options)); }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    return store_->watch(context, std::move(options));
  }
  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    return store_->create(context, object, std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    return store_->update(context, std::move(name), info, std::move(options), force_allow_create);
  }
  Task<Result<DeleteResult>> remove(RequestContext& context, std::string name, DeleteOptions options) override {
    return store_->remove(context, std::move(name), std::move(options));
  }

 private:
  std::shared_ptr<StandardStorage> store_;
};

class FinalizeStorage final : public RestStorage, public Scoper, public Updater, public PatchForbidder {
 public:
  explicit FinalizeStorage(std::shared_ptr<RestStorage> subresource)
      : subresource_(std::move(subresource)), updater_(dynamic_cast<Updater&>(*subresource_)) {}

  GroupVersionKind kind() const override { return subresource_->kind(); }
  const Schema* schema() const override { return subresource_->schema(); }
  bool namespaced() const override { return false; }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool force_allow_create) override {
    return updater_.update(context, std::move(name), info, std::move(options), force_allow_create);
  }

 private:
  std::shared_ptr<RestStorage> subresource_;
  Updater& updater_;
};

}  // namespace

std::shared_ptr<RestStorage> make_namespace_storage(std::shared_ptr<StandardStorage> store) {
  return std::make_shared<NamespaceStorage>(std::move(store));
}
std::shared_ptr<RestStorage> make_finalize_storage(std::shared_ptr<RestStorage> subresource) {
  return std::make_shared<FinalizeStorage>(std::move(subresource));
}

}  // namespace backplane::core
