// The storages of what is established, published as they come and go.
//
// Thread-safety: one executor.
// Lifetime:      outlived by what it has published.
// Errors:        a resource that cannot be served is logged; the others are served.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backplane/points/paths.hpp"
#include "installed_definition.hpp"

namespace backplane::apiextensions {

class Serving {
 public:
  // `services`: for conversion webhooks.
  Serving(Host& host, std::shared_ptr<DynamicGroups> groups, std::shared_ptr<ServiceResolver> services)
      : host_(host), groups_(std::move(groups)), services_(std::move(services)) {}

  // Makes, keeps or drops the definition's storages.  `stored`: its newest form.  `newest`: of a definition that was not served until now,
  // objects up to this revision may be from before its last change.
  void serve(const std::string& name, const Object& crd, const ObjectRef& stored, Revision newest);
  // A newer revision with equal settings of the resource.
  void renew(const std::string& name, const ObjectRef& stored);
  void retire(const std::string& name);
  // One that could not be published is published by the next serve(): the conflicting group may have gone.
  void try_again(const std::string& name);
  InstalledDefinitionRef find(const std::string& name) const;  // null: not served

  // Publishes what has changed since, in one step, and lets go of what is served no more.  The first time even if that is nothing.
  void publish();
  // The same, in one step with other changes of this turn of the executor.
  Task<void> publish_together();

 private:
  void publish_each(GroupsChange change);
  // Takes the name's storages away; they are let go of with the next publication.
  void withdraw(const std::string& name);

  Host& host_;
  const std::shared_ptr<DynamicGroups> groups_;
  const std::shared_ptr<ServiceResolver> services_;
  std::map<std::string, InstalledDefinitionRef> installed_;
  GroupsChange change_;                          // made, and not published yet
  std::vector<InstalledDefinitionRef> retired_;  // to be let go of when that is published
  std::set<std::string> unpublished_;            // those that could not be published
  std::set<std::string> again_;                  // those of them that the next serve() has published
  bool published_ = false;
};

}  // namespace backplane::apiextensions
