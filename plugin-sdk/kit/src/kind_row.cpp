#include "backplane/kit/kind_row.hpp"

#include "backplane/kit/strategy.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

std::shared_ptr<const Strategy> KindRow::strategy() const {
  if (make != nullptr) return make(facts);
  return !stored_kind.kind.empty() ? nullptr : std::make_shared<KindStrategy>(facts);
}

std::shared_ptr<const Strategy> KindRow::status_strategy(std::shared_ptr<const Strategy> parent) const {
  if (make_status != nullptr) return make_status(std::move(parent));
  return facts.status ? std::make_shared<StatusStrategy>(std::move(parent), StatusStrategy::Options{.kept_metadata = status_keeps})
                      : nullptr;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
