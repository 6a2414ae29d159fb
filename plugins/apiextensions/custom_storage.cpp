#include "custom_storage.hpp"

#include "backplane/kit/forwarding_storage.hpp"

namespace backplane::apiextensions {
namespace {

class CustomStorage final : public kit::ForwardingStorage, public DeprecationProvider {
 public:
  CustomStorage(std::shared_ptr<StandardStorage> version, std::string plural, std::string deprecation_warning, Terminating terminating)
      : ForwardingStorage(std::move(version)),
        plural_(std::move(plural)),
        deprecation_warning_(std::move(deprecation_warning)),
        terminating_(std::move(terminating)) {}

  std::string deprecation_warning() const override { return deprecation_warning_; }

  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    if (terminating_->load(std::memory_order_relaxed)) co_return refused();
    co_return co_await ForwardingStorage::create(context, object, std::move(options));
  }

 private:
  Status refused() const {
    Status refused = method_not_allowed(kind().group, plural_, "create");
    refused.set_message("create not allowed while custom resource definition is terminating");
    return refused;
  }

  std::string plural_;
  std::string deprecation_warning_;
  Terminating terminating_;
};

}  // namespace

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<StandardStorage> version, std::string plural,
                                                     std::string deprecation_warning, Terminating terminating) {
  return std::make_shared<CustomStorage>(std::move(version), std::move(plural), std::move(deprecation_warning), std::move(terminating));
}

}  // namespace backplane::apiextensions
