// The admission plugins of this example, one in each source file.
#pragma once

#include <backplane/host.hpp>
#include <backplane/net/informer.hpp>
#include <backplane/points/admission.hpp>

using namespace backplane;

inline bool is_config_map(const AdmissionAttributes& attributes) {
  return attributes.object != nullptr && attributes.resource.group.empty() && attributes.resource.resource == "configmaps";
}

AdmissionRegistration default_team();
AdmissionRegistration known_team(SharedInformerFactory& informers);
AdmissionRegistration short_values();
