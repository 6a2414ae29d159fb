#include "backplane/points/audit.hpp"

#include <array>

namespace backplane BACKPLANE_API {

AuditPolicy::~AuditPolicy() = default;
AuditSink::~AuditSink() = default;
Task<bool> AuditSink::store(std::shared_ptr<const AuditEvent>) { co_return true; }
Task<void> AuditSink::flush() { co_return; }

std::string_view audit_level_name(AuditLevel level) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"None", "Metadata", "Request", "RequestResponse"};
  return kNames[static_cast<std::size_t>(level)];
}
std::string_view audit_stage_name(AuditStage stage) noexcept {
  static constexpr std::array<std::string_view, 4> kNames{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"};
  return kNames[static_cast<std::size_t>(stage)];
}

}  // namespace BACKPLANE_API
