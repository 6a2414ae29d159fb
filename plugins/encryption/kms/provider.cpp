#include "kms/provider.hpp"

namespace backplane::encryption {

Task<Outcome<Done>> KmsProvider::check() {
  const auto self = shared_from_this();
  auto entering = checking_.take();
  const Turns::Turn turn = co_await std::move(entering);
  if (health_.fresh(LastHealth::Clock::now())) co_return health_.outcome();
  auto checking = check_plugin();
  auto checked = co_await std::move(checking);
  co_return health_.set(std::move(checked), LastHealth::Clock::now());
}

}  // namespace backplane::encryption
