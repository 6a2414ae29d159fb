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
  std::vector<std::string> outer_groups;  // API groups that the outer server serves; the core group is "v1"
  std::vector<std::string> plugins;       // names of the plugins of --plugin
  bool api_groups = true;                 // serve and register the plugins' groups
  bool admission_webhooks = false;        // serve and register the plugins' admission rules
  std::string service_namespace, service_name;
  std::string external_name;      // not empty: the Service is of type ExternalName with this name; empty: an EndpointSlice is registered
  std::string advertise_address;  // the address of this server in the EndpointSlice and in URLs of webhooks
  // the beginning of URLs of webhooks, "https://host:port"; empty: made from the address and the port of this server
  std::string url_base;
  std::vector<std::string> webhook_resources;  // "RESOURCE[.GROUP]": the resources of admission rules that name none
  std::vector<std::string> always_allow_paths;
  std::string ca_file;      // the CA certificate of the serving certificate
  std::string trust_dir;    // the directory of front-proxy-ca.crt and client-ca.crt
  bool unregister = false;  // delete the registered objects at shutdown
};

}  // namespace backplane
