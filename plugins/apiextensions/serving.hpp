// Publishes and withdraws the storages of established definitions.
//
// Thread-safety: one executor.
// Lifetime:      published storages may outlive it.
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

  // Makes, retains or withdraws the definition's storages, depending on its condition Established. `stored`: its newest revision. `newest`:
  // if the definition was not served before, objects up to this revision may have been stored before its last change.
  void serve(const std::string& name, const Object& crd, const ObjectRef& stored, Revision newest);
  // Stores a newer revision of the definition, which has the same settings of the resource.
  void renew(const std::string& name, const ObjectRef& stored);
  void retire(const std::string& name);
  // Makes the next serve() publish a definition whose publication failed, because the conflicting group may have been withdrawn.
  void try_again(const std::string& name);
  InstalledDefinitionRef find(const std::string& name) const;  // null: not served

  // Publishes all changes in one step, and then ends the watches of withdrawn storages. The first call publishes even without a change.
  void publish();
  // Calls publish() after all work that is ready to run on the executor, so that the changes of that work are published together.
  Task<void> publish_together();

 private:
  void publish_each(GroupsChange change);
  // Withdraws the name's storages, which are released after the next publication.
  void withdraw(const std::string& name);

  Host& host_;
  const std::shared_ptr<DynamicGroups> groups_;
  const std::shared_ptr<ServiceResolver> services_;
  std::map<std::string, InstalledDefinitionRef> installed_;
  GroupsChange change_;                          // not published yet
  std::vector<InstalledDefinitionRef> retired_;  // released after the publication of change_
  std::set<std::string> unpublished_;            // definitions that could not be published
  std::set<std::string> again_;                  // definitions of unpublished_ that the next serve() publishes
  bool published_ = false;
};

}  // namespace backplane::apiextensions
