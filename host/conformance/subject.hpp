// One type of an API group that is checked: its paths, and objects made from its sample.
//
// Thread-safety: one thread.
// Lifetime:      borrows the two Api objects.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/api.hpp"

namespace backplane::conformance {

// A type, as discovery describes it.
struct Type {
  std::string group, version, resource, singular, kind;
  bool namespaced = false;
  std::set<std::string> verbs;
  std::set<std::string> subresources;  // for example "status"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  std::string root() const { return (group.empty() ? "/api/" : "/apis/" + group + "/") + version; }
};

class Subject {
 public:
  Subject(Api& admin, Api& anonymous, Type of, Object sample, std::string ns)
      : api(admin), anonymous_api(anonymous), type(std::move(of)), ns(std::move(ns)), sample_(std::move(sample)) {}

  Api& api;            // the client of an administrator
  Api& anonymous_api;  // a client without credentials
  const Type type;
  const std::string ns;  // empty if the type is cluster-scoped

  bool can(std::string_view verb) const { return type.verbs.contains(std::string(verb)); }
  bool has(std::string_view subresource) const { return type.subresources.contains(std::string(subresource)); }

  // ---- paths. `query` has no question mark.
  std::string collection(std::string_view query = {}) const;
  std::string everywhere(std::string_view query = {}) const;  // the collection of all namespaces
  std::string item(std::string_view name, std::string_view query = {}) const;
  std::string part(std::string_view name, std::string_view subresource, std::string_view query = {}) const;

  // Returns a name that no other object has. It contains the version, because the versions of a kind store the same objects.
  std::string fresh() { return "conformance-" + type.version + "-" + std::to_string(++made_); }
  // Returns the sample, with that name.
  Object object(std::string_view name) const;
  Object labelled(std::string_view name, std::string_view key, std::string_view value) const;
  Answer create(std::string_view name, std::string_view query = {}) { return api.post(collection(query), object(name)); }
  // Creates an object and returns its name.
  std::string created() {
    std::string name = fresh();
    create(name);
    return name;
  }
  std::string version_of(std::string_view name) { return std::string(api.get(item(name)).text("metadata.resourceVersion")); }

 private:
  const Object sample_;
  int made_ = 0;
};

// Returns a merge patch that sets a label, or removes the label if the value is empty.
std::string label_patch(std::string_view key, std::string_view value);

}  // namespace backplane::conformance
