// Encodes events as upstream's codec encodes audit.k8s.io/v1: the same order of members, Go's escapes, times with microseconds.
//
// Thread-safety: an encoder belongs to one thread at a time.
// Lifetime:      the encoder shares ownership of the last user that it has encoded. It shares ownership of a request from the request's
//                event RequestReceived until the last event of that request, or until the event RequestReceived of another request.
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

// Appends times as "2006-01-02T15:04:05.000000Z". Caches the text of the last second, because consecutive times usually have the same
// second.
class AuditTimeEncoder {
 public:
  void append(std::string& out, std::chrono::system_clock::time_point time);

 private:
  long long seconds_ = 0;
  std::string text_;  // the text of seconds_, up to the decimal point; empty: nothing is cached
};

// Encodes events. `truncated`: omits requestObject and responseObject, and adds the annotation audit.k8s.io/truncated.
class AuditEventEncoder {
 public:
  // Appends {"kind":"Event","apiVersion":…}, without a newline.
  void append(std::string& out, const AuditEvent& event, bool truncated = false);
  // Appends the event as an item of an EventList, that is, without kind and apiVersion.
  void append_item(std::string& out, const AuditEvent& event, bool truncated = false);
  // The number of bytes that append() writes in addition to append_item(), plus one for the newline, which upstream counts.
  static std::size_t size_over_item() noexcept;

 private:
  // The members from requestURI to objectRef. They are usually equal in all events of a request, so their text is cached.
  struct Common {
    std::shared_ptr<const AuditRequest> request;  // null: nothing is cached
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
  Common common_;          // of the last event with the stage RequestReceived
  UserRef user_;           // the user that was encoded last
  std::string user_json_;  // the JSON of user_; empty: nothing is cached
};

// Begin and end of an EventList. The caller separates the items by commas.
inline constexpr std::string_view kAuditEventListHead = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[)";
inline constexpr std::string_view kAuditEventListTail = "]}\n";

// Appends JSON without white space between its tokens and with Go's escapes. If `json` is not valid JSON, it is appended as text on one
// line.
void append_audit_json(std::string& out, std::string_view json);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
