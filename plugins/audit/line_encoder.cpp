#include "line_encoder.hpp"

#include "backplane/kit/audit_event_text.hpp"

namespace backplane::audit {

bool LineEncoder::append(std::string& out, const AuditEvent& event) {
  const std::size_t begin = out.size();
  const auto size = [&] { return out.size() - begin + 1; };
  encoder_.append(out, event);
  if (const auto& limit = settings_.truncate; limit.enabled) {
    if (size() > limit.max_event_bytes && event.level >= AuditLevel::kRequest) {
      out.resize(begin);
      encoder_.append(out, event, true);
    }
    if (size() > limit.max_event_bytes) {
      out.resize(begin);
      return false;
    }
  }
  if (settings_.legacy) {
    out.resize(begin);
    kit::append_audit_event_text(out, event);
  }
  out.push_back('\n');
  return true;
}

}  // namespace backplane::audit
