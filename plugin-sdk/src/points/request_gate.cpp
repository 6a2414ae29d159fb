#include "backplane/points/request_gate.hpp"

namespace backplane BACKPLANE_API {

RequestGate::~RequestGate() = default;
std::string RequestGate::log_fields(const GatePass&) const { return {}; }

}  // namespace BACKPLANE_API
