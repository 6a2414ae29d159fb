// What is known about a request: who, what (RequestInfo), since when, and where its warnings go.
//
// Thread-safety: a RequestContext belongs to one request on one executor.
// Lifetime:      lives until the response has been sent; references into it must not outlive the handler.
#pragma once

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/query.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class Exchange;
struct AuditRecord;

struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;
  bool in_group(std::string_view group) const noexcept;
};

// A user that many requests share.  Read through it as through a pointer; assign another UserRef to change it.
class UserRef {
 public:
  UserRef() noexcept;  // every member of the user is empty
  UserRef(UserInfo user) : user_(std::make_shared<const UserInfo>(std::move(user))) {}
  const UserInfo& operator*() const noexcept { return *user_; }
  const UserInfo* operator->() const noexcept { return user_.get(); }
  operator const UserInfo&() const noexcept { return *user_; }

 private:
  std::shared_ptr<const UserInfo> user_;  // never null, but after a move
};

// apiserver/pkg/endpoints/request.RequestInfo: the URL taken apart.
struct RequestInfo {
  bool is_resource_request = false;
  std::string path;        // decoded, without the query
  std::string verb;        // get list watch create update patch delete deletecollection; lower-case method for non-resource requests
  std::string api_prefix;  // "api" or "apis"
  std::string api_group;
  std::string api_version;
  std::string ns;
  std::string resource;
  std::string subresource;
  std::string name;
  std::vector<std::string> parts;  // from the resource on
  // The query, parsed once; empty if it cannot be parsed.
  Query query;
  // What is wrong with the query.  Endpoints that read parameters return it; those that read none ignore it, as upstream does.
  Status query_error;
  // The query parameters of that name, of list, watch and deletecollection; empty on /watch/ paths, which ignore them.
  std::string field_selector;
  std::string label_selector;
  GroupVersionResource gvr() const { return {api_group, api_version, resource}; }
  GroupResource group_resource() const { return {api_group, resource}; }
};

class RequestContext {
 public:
  RequestContext();
  ~RequestContext();
  RequestContext(const RequestContext&) = delete;
  RequestContext& operator=(const RequestContext&) = delete;

  UserRef user;
  RequestInfo info;
  std::string audit_id;
  std::string user_agent;
  std::chrono::steady_clock::time_point received = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  bool dry_run = false;
  bool long_running = false;
  // Paths are still being installed: an unknown one is answered 503, not 404.
  bool mux_incomplete = false;
  // The exchange that the current handler writes to: filters that put another exchange in front of it set it here, and nowhere else.  Null
  // for calls that did not come over HTTP.
  Exchange* exchange = nullptr;
  // Null: the request is not audited.
  std::shared_ptr<AuditRecord> audit;  // backplane/points/audit.hpp

  // Trees of this request live here; freed at once with the request.
  const json::storage_ptr& arena() noexcept { return arena_; }
  // Sent as `Warning: 299 - "text"`; repeated texts are sent once; total bounded as upstream (4096 characters, each cut at 256).
  void warn(std::string_view text);
  // What is to be sent, cut as the bound demands.
  std::vector<std::string> warnings() const;
  // A computation that is tried again takes back what its lost try warned of: note the count before it, and go back to it.
  std::size_t warning_count() const noexcept { return warnings_.size(); }
  void take_back_warnings(std::size_t count) noexcept { warnings_.resize(std::min(count, warnings_.size())); }
  // Adds an annotation to the audit events of this request.  False: the key has another value, which stays.
  bool annotate(std::string_view key, std::string value);
  const std::map<std::string, std::string, std::less<>>& audit_annotations() const noexcept { return audit_annotations_; }

 private:
  json::storage_ptr arena_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string, std::less<>> audit_annotations_;
};

}  // namespace BACKPLANE_API
