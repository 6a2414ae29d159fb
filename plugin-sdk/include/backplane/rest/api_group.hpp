// API groups as a plugin installs them: once, in provision(), or at run time.
//
// Thread-safety: plain data; DynamicGroups may be called from any thread.
// Lifetime:      storages and handlers are shared with the host, which drops them when the last request on them has ended.
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
  // version → path ("deployments", "deployments/status") → storage.
  std::map<std::string, std::map<std::string, std::shared_ptr<RestStorage>>> storages;
  // Types by version, for OpenAPI and kubectl explain.
  std::map<std::string, std::shared_ptr<const SchemaSet>> schemas;
  // As in an APIService: groups are listed by descending group priority, then by name.
  int group_priority_minimum = 1000;
  int version_priority = 15;
  std::map<std::string, int> version_priorities = {};  // for versions whose priority differs from version_priority
};

// A served group version.
struct GroupVersionInfo {
  GroupVersion group_version;
  int group_priority_minimum = 0;
  int version_priority = 0;
  std::string delegate;    // the plugin that serves it
  bool published = false;  // installed at run time (DynamicGroups)
  bool forwarded = false;  // proxied to another server
};

// A change of the served group versions: added, now served by another plugin, or with other resources; and removed.
struct GroupVersionsChange {
  std::vector<GroupVersionInfo> served;
  std::vector<GroupVersion> gone;
};

// A resource that is installed at run time, with its storages in each version. Discovery orders the versions of the group as Kubernetes
// does.
struct PublishedResource {
  struct Version {
    std::string version;
    std::map<std::string, std::shared_ptr<RestStorage>> storages;  // path ("widgets", "widgets/status") → storage
    std::shared_ptr<const SchemaSet> schemas;                      // types of this resource alone, for OpenAPI and explain
  };
  std::string group;
  std::string resource;  // plural: "widgets"
  std::vector<Version> versions;
  // A text that is equal as long as all published documents of the resource are equal, across restarts too; then the documents are not
  // generated to find out whether they changed. Empty: they are compared byte by byte.
  std::string identity;
  int group_priority_minimum = 1000;
  int version_priority = 100;
};

struct ForwardedDocuments;  // net/forwarded_documents.hpp

// A group version that another server serves: `handler` responds to its path and every path below. It takes precedence over a group
// version of this server.
struct ForwardedVersion {
  GroupVersion group_version;
  int group_priority_minimum = 1000;
  int version_priority = 15;
  std::shared_ptr<HttpHandler> handler;
  // For discovery and OpenAPI; null: discovery lists the version as stale and without resources.
  std::shared_ptr<const ForwardedDocuments> documents = {};
};

// A set of changes that take effect together.
struct GroupsChange {
  std::vector<PublishedResource> put;  // added, or replacing the resource of that group and name
  std::vector<GroupResource> removed;  // absent ones are ignored
  std::vector<ForwardedVersion> forwarded;
  std::vector<GroupVersion> withdrawn;  // forwarded versions that are removed
};

// Installs and removes API resources at run time (custom resources). The cost depends on the size of the change. Readers take no lock; a
// running request finishes with the storages that it began with.
class DynamicGroups {
 public:
  virtual ~DynamicGroups();
  // Applies all of `change` or nothing. The first call declares the state at startup and may be empty.
  // Errors: kAlreadyExists if another plugin serves the group version; kBadRequest for storages that cannot be served.
  virtual Status change(GroupsChange change) = 0;
};

}  // namespace BACKPLANE_API
