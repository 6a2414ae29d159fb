// A subresource that reads and updates the parent's objects with a separate strategy: status, finalize, ephemeralcontainers …
#include "registry/object_store.hpp"

namespace backplane {
namespace registry {
namespace {

class SubresourceStore final : public SubresourceStorage, public ObjectDefaulter {
 public:
  bool admits_writes() const noexcept override { return true; }
  SubresourceStore(std::shared_ptr<ServedStore> parent, std::shared_ptr<const Strategy> strategy,
                   std::shared_ptr<const Strategy> view_strategy)
      : parent_(std::move(parent)),
        strategy_(std::move(strategy)),
        view_strategy_(std::move(view_strategy)),
        manager_(parent_->kind(), parent_->schema(), parent_->versions(), written_fields_of(speaker())) {}

  GroupVersionKind kind() const override { return parent_->kind(); }
  const Schema* schema() const override { return parent_->schema(); }
  bool namespaced() const override { return parent_->namespaced(); }
  std::string deprecation_warning() const override { return parent_->deprecation_warning(); }
  const TableConvertor* subresource_table() const noexcept override {
    return strategy_->facts().has_tables ? &parent_->table_convertor() : nullptr;
  }

  void set_defaults(Value& object) const override { parent_->set_defaults(object); }

  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    co_return co_await parent_->get(context, std::move(name), std::move(options));
  }

  // A subresource never creates its parent.
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool) override {
    WriteMode mode;
    mode.strategy = strategy_.get();
    mode.subresource = true;
    mode.fields = &manager_;
    co_return co_await parent_->update_through(mode, view_strategy_.get(), context, std::move(name), info, std::move(options), false);
  }

 private:
  // The strategy that determines which fields a write may change: the strategy of this version if it has written_fields(), otherwise that
  // of the stored version.
  const Strategy* speaker() const {
    return view_strategy_ != nullptr && view_strategy_->written_fields() ? view_strategy_.get() : strategy_.get();
  }

  std::shared_ptr<ServedStore> parent_;
  std::shared_ptr<const Strategy> strategy_;
  std::shared_ptr<const Strategy> view_strategy_;
  FieldManager manager_;
};

}  // namespace
}  // namespace registry

Result<std::shared_ptr<SubresourceStorage>> make_subresource_store(std::shared_ptr<StandardStorage> parent,
                                                                   std::shared_ptr<const Strategy> strategy,
                                                                   std::shared_ptr<const Strategy> view_strategy) {
  auto store = registry::served_store(parent);
  if (store == nullptr) return internal_error("a subresource's parent must be a storage made by this host");
  if (strategy == nullptr) return internal_error("a subresource needs a strategy");
  return std::shared_ptr<SubresourceStorage>(
      std::make_shared<registry::SubresourceStore>(std::move(store), std::move(strategy), std::move(view_strategy)));
}

}  // namespace backplane
