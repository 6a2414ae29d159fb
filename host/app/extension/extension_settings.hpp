// The settings that `backplane-runner` adds to a server: the outer API server, and the parts of the plugins that are registered in it.
//
// Thread-safety: values.
#pragma once

#include <string>
#include <vector>

#include "backplane/net/client.hpp"

namespace backplane {

struct ExtensionSettings {
  ClientConfig outer;                     // the API server of --kubeconfig
  std::vector<std::string> outer_groups;  // API groups that it serves; the core group is "v1"
  std::vector<std::string> plugins;       // names of the plugins of --plugin
  bool api_groups = true;                 // serve and register the plugins' groups
  bool admission_webhooks = false;        // serve and register the plugins' admission rules
  std::string service_namespace, service_name;
  std::string external_name;                   // the Service is of type ExternalName with this name; empty: endpoints are written
  std::string advertise_address;               // of the endpoints
  std::string url_base;                        // of webhooks: "https://host:port"; empty: the address and port of this server
  std::vector<std::string> webhook_resources;  // "RESOURCE[.GROUP]" of rules that name none
  std::vector<std::string> always_allow_paths;
  std::string ca_file;      // of the serving certificate
  std::string trust_dir;    // where front-proxy-ca.crt and client-ca.crt are
  bool unregister = false;  // delete the registered objects at shutdown
};

}  // namespace backplane
