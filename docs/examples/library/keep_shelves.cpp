// An admission rule: a shelf with books cannot be deleted.
#include "library.hpp"

namespace {

class KeepShelves final : public AdmissionPlugin {
 public:
  explicit KeepShelves(std::shared_ptr<SharedInformer> books) : books_(std::move(books)) {}
  std::string_view name() const noexcept override { return "KeepShelves"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kDelete; }
  bool mutates() const noexcept override { return false; }
  bool ready() const noexcept override { return books_->has_synced(); }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (attributes.resource.group != kShelves.group || attributes.resource.resource != kShelves.resource) return Status();
    auto books = books_->indexer().index_keys("shelf", object_key(attributes.ns, attributes.name));
    if (!books.ok()) return std::move(books).status();
    if (books->empty()) return Status();
    return admission_forbidden(attributes, "the shelf has " + std::to_string(books->size()) + " books");
  }

 private:
  const std::shared_ptr<SharedInformer> books_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> keep_shelves(std::shared_ptr<SharedInformer> books) {
  return std::make_shared<KeepShelves>(std::move(books));
}
