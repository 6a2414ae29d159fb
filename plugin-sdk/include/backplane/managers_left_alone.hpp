// Admission plugins that do not look at who manages which fields.
//
// A role beside AdmissionPlugin: the host asks each plugin for it once, by dynamic_cast.  While all that run have it, the fields of
// managers (metadata.managedFields[*].fieldsV1) of the objects they are shown are raw values (raw_json.hpp); if one has not, they are
// trees, which costs every write.
#pragma once

#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class ManagersLeftAlone {
 public:
  virtual ~ManagersLeftAlone();
  // Asked before each write: what is configured may change it.
  virtual bool leaves_managers_alone() const noexcept { return true; }
};

}  // namespace BACKPLANE_API
