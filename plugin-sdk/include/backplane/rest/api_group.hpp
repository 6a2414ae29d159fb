// API groups that a plugin installs: once in provision(), or at run time.
//
// Thread-safety: plain data; DynamicGroups may be called from any thread.
// Lifetime:      storages and handlers are shared with the host, which releases them when the last request that uses them has ended.
// Errors:        kAlreadyExists for a group version that another plugin serves.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class HttpHandler;
class RestStorage;
class SchemaSet;

// An API group with its versions and their storages (upstream's APIGroupInfo).
struct APIGroupInfo {
  std::string group;  // empty: the legacy core group under /api
  // In order of preference; empty: the order of Scheme::set_version_priority.
  std::vector<std::string> prioritized_versions;
  // By version and by path ("deployments", "deployments/status").
  std::map<std::string, std::map<std::string, std::shared_ptr<RestStorage>>> storages;
  // The types of each version, for OpenAPI and kubectl explain.
  std::map<std::string, std::shared_ptr<const SchemaSet>> schemas;
  // As in an APIService. Discovery lists groups by descending group priority, then by name.
  int group_priority_minimum = 1000;
  int version_priority = 15;                           // of the last version; increases by one for each version before it
  std::map<std::string, int> version_priorities = {};  // for versions with another priority
};

// A served group version.
struct GroupVersionInfo {
  GroupVersion group_version;
  int group_priority_minimum = 0;
  int version_priority = 0;
  std::string delegate;    // the name of the plugin that serves it
  bool published = false;  // installed at run time (DynamicGroups)
  bool forwarded = false;  // proxied to another server
};

// A change of the served group versions. `served`: versions that were added, or whose plugin, resources, priority or documents may have
// changed. `gone`: versions that were removed.
struct GroupVersionsChange {
  std::vector<GroupVersionInfo> served;
  std::vector<GroupVersion> gone;
};

// A resource that is installed at run time, with the storages of each version. Discovery orders the versions of the group by Kubernetes'
// order of versions (version_precedes).
struct PublishedResource {
  struct Version {
    std::string version;
    std::map<std::string, std::shared_ptr<RestStorage>> storages;  // by path ("widgets", "widgets/status")
    std::shared_ptr<const SchemaSet> schemas;                      // types of this resource only, for OpenAPI and kubectl explain
  };
  std::string group;
  std::string resource;  // plural: "widgets"
  std::vector<Version> versions;
  // A text that changes whenever a published document (discovery, OpenAPI) of the resource changes, and that is equal otherwise, also after
  // a restart. If it is unchanged, the host does not generate the documents again. Empty: the host generates the documents and compares
  // them.
  std::string identity;
  int group_priority_minimum = 1000;
  int version_priority = 100;
};

struct ForwardedDocuments;  // net/forwarded_documents.hpp

// A group version that another server serves. `handler` serves its path and every path below it. It takes precedence over a group version
// that this server serves.
struct ForwardedVersion {
  GroupVersion group_version;
  int group_priority_minimum = 1000;
  int version_priority = 15;
  std::shared_ptr<HttpHandler> handler;
  // The documents for discovery and OpenAPI. Null: discovery lists the version as stale and without resources.
  std::shared_ptr<const ForwardedDocuments> documents = {};
};

// A set of changes that take effect together.
struct GroupsChange {
  std::vector<PublishedResource> put;       // added, or replacing the resource with the same group and name
  std::vector<GroupResource> removed;       // removed; a resource that is not installed is ignored
  std::vector<ForwardedVersion> forwarded;  // forwarded versions that are added or replaced
  std::vector<GroupVersion> withdrawn;      // forwarded versions that are removed
};

// Installs and removes API resources at run time (custom resources). The cost of a change depends on the size of the change. Readers take
// no lock. A running request keeps the storages with which it began.
class DynamicGroups {
 public:
  virtual ~DynamicGroups();
  // Applies all of `change`, or nothing. After the first call, the host no longer waits for this plugin (Host::groups_complete); a plugin
  // that has no group yet makes that call with an empty `change`.
  // Errors: kAlreadyExists if another plugin serves a version of `put` or forwards a version of `forwarded`; kBadRequest for storages that
  //         cannot be served.
  virtual Status change(GroupsChange change) = 0;
};

}  // namespace BACKPLANE_API
