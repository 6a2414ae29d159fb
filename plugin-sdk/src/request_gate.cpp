#include "backplane/request_gate.hpp"

#include "backplane/host.hpp"

namespace backplane BACKPLANE_API {

RequestGate::~RequestGate() = default;
std::string RequestGate::log_fields(const GatePass&) const { return {}; }
GateKeeper::~GateKeeper() = default;

Status register_request_gate(Host& host, std::shared_ptr<RequestGate> gate) {
  auto* keeper = dynamic_cast<GateKeeper*>(&host);
  if (keeper == nullptr) return service_unavailable("this host has no place for a request gate");
  return keeper->register_request_gate(std::move(gate));
}

std::vector<GateKeeper::Stored> stored_objects(Host& host) {
  const auto* keeper = dynamic_cast<const GateKeeper*>(&host);
  return keeper != nullptr ? keeper->stored_objects() : std::vector<GateKeeper::Stored>();
}

}  // namespace BACKPLANE_API
