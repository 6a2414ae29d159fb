#include "definition_storage.hpp"

#include "backplane/kit/forwarding_storage.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

class DefinitionStorage final : public kit::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  GroupVersionKind storage_version() const override { return {std::string(kGroup), "v1beta1", store().kind().kind}; }
};

}  // namespace

std::shared_ptr<StandardStorage> make_definition_storage(std::shared_ptr<StandardStorage> store) {
  return std::make_shared<DefinitionStorage>(std::move(store));
}

}  // namespace backplane::apiextensions
