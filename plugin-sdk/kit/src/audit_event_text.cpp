#include "backplane/kit/audit_event_text.hpp"

#include <cstdio>
#include <ctime>

#include "backplane/core/status.hpp"

namespace backplane::kit {
namespace {

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : ",").append(backplane::quoted(text));
  return out;
}

// Returns the time as time.RFC3339Nano in the time zone of the machine.
std::string local_time(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t whole = std::chrono::system_clock::to_time_t(seconds);
  std::tm parts{};
  localtime_r(&whole, &parts);
  char text[48];
  std::string out(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
  if (const auto nanos = std::chrono::nanoseconds(time - seconds).count(); nanos != 0) {
    std::snprintf(text, sizeof text, ".%09lld", static_cast<long long>(nanos));
    out += text;
    while (out.back() == '0') out.pop_back();
  }
  if (parts.tm_gmtoff == 0) return out + "Z";
  const long offset = parts.tm_gmtoff < 0 ? -parts.tm_gmtoff : parts.tm_gmtoff;
  std::snprintf(text, sizeof text, "%c%02ld:%02ld", parts.tm_gmtoff < 0 ? '-' : '+', offset / 3600, offset / 60 % 60);
  return out + text;
}

std::string_view or_else(std::string_view text, std::string_view otherwise) { return text.empty() ? otherwise : text; }

std::string response_of(const AuditEvent& event) {
  if (event.stage == AuditStage::kRequestReceived) return "<deferred>";
  return std::to_string(event.response_code != 0 ? event.response_code : 200);
}

}  // namespace

void append_audit_event_text(std::string& out, const AuditEvent& event) {
  const AuditRequest& request = *event.request;
  const UserInfo& user = *request.user;
  const bool known = !user.name.empty(), as = event.impersonated_user.has_value();
  const std::string groups = known && !user.groups.empty() ? quoted_list(user.groups) : "<none>";
  const std::string as_groups =
      as && !(*event.impersonated_user)->groups.empty() ? quoted_list((*event.impersonated_user)->groups) : "<lookup>";
  out += local_time(request.received);
  out += " AUDIT:";
  const std::string_view ip = request.source_ips.empty() ? std::string_view("<unknown>") : request.source_ips.front();
  const std::pair<std::string_view, std::string_view> fields[] = {
      {"id", request.audit_id},
      {"stage", audit_stage_name(event.stage)},
      {"ip", ip},
      {"method", request.verb},
      {"user", known ? std::string_view(user.name) : "<none>"},
      {"groups", groups},
      {"as", as ? std::string_view((*event.impersonated_user)->name) : "<self>"},
      {"asgroups", as_groups},
      {"user-agent", request.user_agent},
      {"namespace", or_else(request.ns, "<none>")},
      {"uri", request.request_uri},
  };
  for (const auto& [name, value] : fields) out.append(" ").append(name).append("=").append(backplane::quoted(value));
  out.append(" response=\"").append(response_of(event)).append("\"");
}

}  // namespace backplane::kit
