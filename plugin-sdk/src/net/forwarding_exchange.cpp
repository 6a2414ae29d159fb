#include "backplane/net/forwarding_exchange.hpp"

namespace backplane BACKPLANE_API {

ForwardingExchange::~ForwardingExchange() = default;

}  // namespace BACKPLANE_API
