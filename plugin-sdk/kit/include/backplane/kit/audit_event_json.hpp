// Events as upstream's codec writes audit.k8s.io/v1: the order of members, Go's escapes, times in microseconds.
//
// Thread-safety: an encoder belongs to one thread at a time.
// Lifetime:      the encoder keeps the last user that it has encoded, and the request until its last event.
// Errors:        none.
// Source:        k8s.io/apiserver/pkg/apis/audit/v1/types.go.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backplane/core/visibility.hpp"
#include "backplane/points/audit.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

// Appends times as "2006-01-02T15:04:05.000000Z". Most times are of the same second as the one before.
class AuditTimeEncoder {
 public:
  void append(std::string& out, std::chrono::system_clock::time_point time);

 private:
  long long seconds_ = 0;
  std::string text_;  // of seconds_, up to the point; empty: none yet
};

// `truncated`: without requestObject and responseObject, with the annotation audit.k8s.io/truncated.
class AuditEventEncoder {
 public:
  // Appends {"kind":"Event","apiVersion":…}, without a newline.
  void append(std::string& out, const AuditEvent& event, bool truncated = false);
  // Appends the event as an item of an EventList: without kind and apiVersion.
  void append_item(std::string& out, const AuditEvent& event, bool truncated = false);
  // The size of the part that only append() writes, and of the newline, which upstream counts.
  static std::size_t size_over_item() noexcept;

 private:
  // The members from requestURI to objectRef, which the events of a request usually have in common.
  struct Common {
    std::shared_ptr<const AuditRequest> request;  // null: there is no text
    std::optional<UserRef> impersonated_user;
    std::string impersonation_constraint, name, uid, resource_version;
    std::string json;
    bool is_of(const AuditEvent& event) const noexcept;
  };

  void append_members(std::string& out, const AuditEvent& event, bool truncated);
  void append_common(std::string& out, const AuditEvent& event);
  void append_common_members(std::string& out, const AuditEvent& event);
  void append_user(std::string& out, const UserRef& user);

  AuditTimeEncoder time_;
  Common common_;          // of the last event of the stage RequestReceived
  UserRef user_;           // the last one
  std::string user_json_;  // of user_; empty: none yet
};

// Begin and end of an EventList; the items are separated by commas.
inline constexpr std::string_view kAuditEventListHead = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)";
inline constexpr std::string_view kAuditEventListTail = "]}\n";

// Appends valid JSON without white space between its tokens and with Go's escapes. Text that is not JSON is put on one line.
void append_audit_json(std::string& out, std::string_view json);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
